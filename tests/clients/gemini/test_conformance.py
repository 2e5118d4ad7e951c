"""The conformance suite for clients on Gemini CLI."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast import clients
from holdfast.clients.client_protocol import Client
from support.client_conformance import ClientConformance, SessionWriter

from .chat_writer import ChatSession


class TestGemini(ClientConformance):
    @pytest.fixture
    def client(self) -> Client:
        return clients.get("gemini")

    @pytest.fixture
    def session(self, tmp_path: Path) -> SessionWriter:
        return ChatSession(tmp_path)

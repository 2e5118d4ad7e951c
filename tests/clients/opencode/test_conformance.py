"""The conformance suite for clients on OpenCode and its fork."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast import clients
from holdfast.clients.client_protocol import Client
from support.client_conformance import ClientConformance, SessionWriter

from .session_writer import WrittenSession


class TestOpenCode(ClientConformance):
    @pytest.fixture
    def client(self) -> Client:
        return clients.get("opencode")

    @pytest.fixture
    def session(self, tmp_path: Path) -> SessionWriter:
        return WrittenSession(tmp_path)


class TestKilo(ClientConformance):
    @pytest.fixture
    def client(self) -> Client:
        return clients.get("kilo")

    @pytest.fixture
    def session(self, tmp_path: Path) -> SessionWriter:
        return WrittenSession(tmp_path, client="kilo")

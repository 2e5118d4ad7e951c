"""The conformance suite for clients on Codex."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast import clients
from holdfast.clients.client_protocol import Client
from support.client_conformance import ClientConformance, SessionWriter

from .rollout_writer import RolloutSession


class TestCodex(ClientConformance):
    @pytest.fixture
    def client(self) -> Client:
        return clients.get("codex")

    @pytest.fixture
    def session(self, tmp_path: Path) -> SessionWriter:
        return RolloutSession(tmp_path)

"""The service as a process of its own: started, listened to, killed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx

SOURCE = Path(__file__).parents[2] / "src"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class LiveService:
    def __init__(self, database: str, home: Path, *options: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.command = [
            *(sys.executable, "-m", "holdfast.cli.main", "team", "serve", "--port", str(self.port)),
            *("--rate", "100000", *options),
        ]
        self.environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(SOURCE),
            "HOLDFAST_HOME": str(home),
            "HOLDFAST_DATABASE": database,
        }
        self.log = home / "service.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(self.command, env=self.environment, stderr=log)
        deadline = time.monotonic() + 60
        while True:
            try:
                httpx.get(f"{self.url}/api/health", timeout=5)
                return
            except httpx.TransportError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self) -> int:
        assert self._process is not None
        self._process.terminate()
        return self._process.wait(20)

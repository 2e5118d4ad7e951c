"""`holdfast team serve` as a person meets it: a taken port, an address that is none, the end."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from holdfast.server import runner
from support.live_service import SOURCE

pytestmark = pytest.mark.slow


def serve(home: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "holdfast.cli.main", "team", "serve", *options],
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(SOURCE),
            "HOLDFAST_HOME": str(home / "data"),
            "HOME": str(home),
        },
        cwd=home,
        stderr=subprocess.PIPE,
        text=True,
    )


def said(home: Path, *options: str) -> tuple[int, str]:
    process = serve(home, *options)
    words = process.communicate(timeout=60)[1]
    return process.returncode, words


def test_what_cannot_be_listened_to_is_said_before_anything_is_promised(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        code, words = said(tmp_path, "--port", str(other.getsockname()[1]))
    assert code == 1
    assert (
        "Address already in use. Is the server already running? Choose another port with `--port`."
        in " ".join(words.split())
    )
    assert "Listening on" not in words
    assert "Traceback" not in words


def test_a_url_of_another_kind_is_no_file(tmp_path: Path) -> None:
    code, words = said(tmp_path, "--database", "mysql://db.example/holdfast")
    assert code == 1
    assert "mysql:// is not a supported database" in words
    assert not list(tmp_path.glob("mysql*"))


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_at_once_and_in_silence_while_others_listen(
    tmp_path: Path, sign: signal.Signals
) -> None:
    process = serve(tmp_path, "--port", "0")
    assert process.stderr is not None
    url = process.stderr.readline().split()[2].rstrip(";")
    with httpx.stream("GET", f"{url}/api/events", timeout=60) as stream:
        lines = stream.iter_lines()
        assert next(lines) == "retry: 2000"
        process.send_signal(sign)
        assert not any(lines)  # it ends, and not by being cut off
    words = process.communicate(timeout=60)[1]
    assert words == ""
    assert process.returncode == (0 if sign == signal.SIGINT else -signal.SIGTERM)


def test_every_address_of_a_host_has_the_same_port() -> None:
    sockets = runner.open_sockets("localhost", 0)
    try:
        assert {one.getsockname()[1] for one in sockets} == {runner.get_port(sockets)}
    finally:
        for one in sockets:
            one.close()

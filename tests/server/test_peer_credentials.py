"""Whose connection it is, from the kernel."""

from __future__ import annotations

import os
import socket

import pytest

from holdfast.server.peer_credentials import is_loopback, uid_of_peer


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_our_own_connection_is_ours(family: socket.AddressFamily) -> None:
    with socket.socket(family) as listener:
        listener.bind(("127.0.0.1" if family == socket.AF_INET else "::1", 0))
        listener.listen()
        with socket.create_connection(listener.getsockname()[:2]) as near:
            far, _ = listener.accept()
            with far:
                assert uid_of_peer(far.getpeername()[:2], far.getsockname()[:2]) == os.getuid()
                assert uid_of_peer(("127.0.0.1", 1), far.getsockname()[:2]) is None
                assert near.fileno() >= 0


def test_a_connection_that_its_process_has_closed_is_nobodys() -> None:
    """The kernel gives root's id for it, whoever it belonged to."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        socket.create_connection(listener.getsockname()).close()
        far, _ = listener.accept()
        with far:
            assert uid_of_peer(far.getpeername(), far.getsockname()) is None


def test_another_users_connection_is_theirs() -> None:
    if os.getuid() != 0:
        # Only root can become somebody else; others see that nobody is there.
        assert uid_of_peer(("127.0.0.1", 1), ("127.0.0.1", 2)) is None
        return
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        os.seteuid(65534)
        try:
            stranger = socket.create_connection(listener.getsockname())
        finally:
            os.seteuid(0)
        with stranger:
            far, _ = listener.accept()
            with far:
                assert uid_of_peer(far.getpeername(), far.getsockname()) == 65534


def test_loopback_names() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.9.9.9", "::1", "[::1]", "localhost")))
    assert not any(map(is_loopback, ("", "10.0.0.1", "example.org", "127.0.0.1.example.org")))

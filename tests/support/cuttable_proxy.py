"""A line between two ends that can be cut: whatever is on its way is lost."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable

_AT_ONCE = struct.pack("ii", 1, 0)


class Proxy:
    """Listens on a port of loopback and passes on to what `reach` connects to."""

    def __init__(self, reach: Callable[[], socket.socket]) -> None:
        self._reach = reach
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._open: set[socket.socket] = set()
        self._guard = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> int:
        """Every connection, at once; answers how many ends there were."""
        with self._guard:
            ends, self._open = self._open, set()
        for end in ends:
            with contextlib.suppress(OSError):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
            _close(end)
        return len(ends)

    def close(self) -> None:
        _close(self._listener)
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            try:
                far = self._reach()
            except OSError:
                _close(near)
                continue
            with self._guard:
                self._open |= {near, far}
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._pass_on, args=(one, other), daemon=True).start()

    def _pass_on(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while said := one.recv(65_536):
                other.sendall(said)
        for end in (one, other):
            with self._guard:
                self._open.discard(end)
            _close(end)


def _close(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()

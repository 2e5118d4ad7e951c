"""How `holdfast open` lets its own page in: by a code in the address, good once and for minutes.

Linux says which user is at the other end of a connection; other systems do not. So the command and
the service share a key in the user's data folder. A code made with it says for which port it is and
until when; the page hands it in and is given a token for this service. An address may be read by
others on the machine (it is an argument of the browser's process): what they could do with it is
over with the first use. Pure, and without the framework: the command imports it too.
"""

import hmac
import secrets
import time

CODE_SECONDS = 300
KEY_BYTES = 32


def new_key() -> bytes:
    return secrets.token_hex(KEY_BYTES).encode()


def make_code(key: bytes, port: int) -> str:
    about = f"{int(time.time()) + CODE_SECONDS}-{secrets.token_hex(8)}"
    return f"{about}-{_sign(key, 'code', port, about)}"


def page_token(key: bytes, port: int) -> str:
    """What the page is given for its code; the same for every page of this service."""
    return _sign(key, "page", port, "")


class UsedCodes:
    """Remembers which codes were handed in."""

    def __init__(self) -> None:
        self._used: dict[str, float] = {}

    def redeem(self, key: bytes, port: int, code: str) -> bool:
        """Whether it is good; it is not the next time."""
        about, _, signature = code.rpartition("-")
        expected = _sign(key, "code", port, about)
        now = time.time()
        if not key or not hmac.compare_digest(expected.encode(), signature.encode()):
            return False
        until = float(about.partition("-")[0])
        self._used = {name: end for name, end in self._used.items() if end > now}
        if until < now or about in self._used:
            return False
        self._used[about] = until
        return True


def _sign(key: bytes, use: str, port: int, about: str) -> str:
    return hmac.new(key, f"{use} {port} {about}".encode(), "sha256").hexdigest()

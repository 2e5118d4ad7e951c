"""Which user of this machine is at the other end of a loopback connection.

A port on loopback is open to everyone who has an account. Linux says who owns each end of a
connection; elsewhere we do not know, and the caller needs a token. The kernel is asked for
the one connection (sock_diag): to read its table of all takes 9 ms, as much as the rest of a
request.
"""

import ipaddress
import socket
import struct

Address = tuple[str, int]

# From linux/netlink.h, linux/sock_diag.h and linux/inet_diag.h.
_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_NLM_F_REQUEST = 1
_EVERY_STATE = 0xFFFFFFFF
_NO_COOKIE = 0xFFFFFFFF
_HEADER = struct.Struct("=IHHII")
_UID_AT = _HEADER.size + 4 + 48 + 12
# A socket that its process has closed has no inode, and root's id, whatever user it belonged to.
_CLOSED = -1


def uid_of_peer(peer: Address, own: Address) -> int | None:
    """The user id, or None where it is not known."""
    for wide in (False, True):
        found = _ask_kernel(peer, own, wide)
        if found is not None:
            # Not asked further: a flood of connections that were closed at once would be slow.
            return None if found == _CLOSED else found
    return None


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def _ask_kernel(peer: Address, own: Address, wide: bool) -> int | None:
    try:
        ends = [_pack_address(host, wide) for host, _ in (peer, own)]
        ports = struct.pack("!HH", peer[1], own[1])
        family = socket.AF_INET6 if len(ends[0]) == 16 else socket.AF_INET
        body = struct.pack("=BBBBI", family, socket.IPPROTO_TCP, 0, 0, _EVERY_STATE)
        body += ports + b"".join(end.ljust(16, b"\0") for end in ends)
        body += struct.pack("=III", 0, _NO_COOKIE, _NO_COOKIE)
        header = _HEADER.pack(_HEADER.size + len(body), _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST, 1, 0)
        kind = socket.SOCK_DGRAM | socket.SOCK_CLOEXEC
        with socket.socket(socket.AF_NETLINK, kind, _NETLINK_SOCK_DIAG) as kernel:
            kernel.settimeout(1)
            kernel.send(header + body)
            answer = kernel.recv(8192)
    except (OSError, ValueError, AttributeError, struct.error):
        return None
    if len(answer) < _UID_AT + 8 or _HEADER.unpack_from(answer)[1] != _SOCK_DIAG_BY_FAMILY:
        return None
    at = _HEADER.size + 4
    # The kernel may answer with a listener where there is no such connection.
    if answer[at : at + 4] != ports:
        return None
    uid, inode = struct.unpack_from("=II", answer, _UID_AT)
    return uid if inode else _CLOSED


def _pack_address(host: str, wide: bool) -> bytes:
    address = ipaddress.ip_address(host)
    if wide and address.version == 4:
        return ipaddress.IPv6Address(f"::ffff:{host}").packed
    return address.packed

"""Which user of this machine is at the other end of a loopback connection.

A port on loopback is open to everyone who has an account. Linux says who owns each end of a
connection; elsewhere we do not know, and whoever calls needs a token.
"""

from __future__ import annotations

import ipaddress
import sys


def uid_of_peer(peer: tuple[str, int], own: tuple[str, int]) -> int | None:
    """The user id, or None where it cannot be told."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            with open(table, encoding="ascii") as lines:
                next(lines)
                for line in lines:
                    fields = line.split()
                    if _address(fields[1]) == peer and _address(fields[2]) == own:
                        return int(fields[7])
        except (OSError, ValueError, IndexError, StopIteration):
            continue
    return None


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def _address(words: str) -> tuple[str, int]:
    """`0100007F:1F90`: the address in groups of four bytes of the machine's order."""
    host, _, port = words.partition(":")
    raw = bytes.fromhex(host)
    if sys.byteorder == "little":
        raw = b"".join(raw[at : at + 4][::-1] for at in range(0, len(raw), 4))
    address = ipaddress.ip_address(raw)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    return str(address), int(port, 16)

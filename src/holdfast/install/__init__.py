"""Putting our hooks into a client and taking them out: settings files, launcher, receipts.

`get` and `installer_for` hand out a client's `Installer`. A client names its own by a word of the
form `package.module:NAME` (`Client.installer`), so that `clients` never imports this package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast import clients

if TYPE_CHECKING:
    from holdfast.clients.client_protocol import Client
    from holdfast.install.installer import Installer


def get(name: str = clients.DEFAULT_CLIENT) -> Installer:
    """The installer of the client of this name; raises clients.UnknownClient."""
    return installer_for(clients.get(name))


def installer_for(client: Client) -> Installer:
    import importlib

    module, _, name = client.installer.partition(":")
    found: Installer = getattr(importlib.import_module(module), name)
    return found


# What other packages may import.
__all__ = [
    "claude_code",
    "get",
    "installation",
    "installer",
    "installer_for",
    "launcher",
    "receipts",
    "settings_file",
    "statusline",
]

"""Holdfast for those who build bots and agents: a chat's state, kept beside its messages.

`Keeper` opens a store, `keeper.chat(id)` is one conversation in it. Importing this imports no
framework; each has a module of its own here, which needs that framework installed.
"""

from holdfast.sdk.keeper import ChatMemory, Keeper
from holdfast.state import Fact
from holdfast.store.protocol import StoreError

# What other packages may import.
__all__ = ["ChatMemory", "Fact", "Keeper", "StoreError"]

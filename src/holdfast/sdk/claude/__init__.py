"""The Claude Agent SDK: sessions that keep their state, and chats that never fill up.

`protect` lets a client compact without losing the state. `Chat` is a conversation that resets
itself before that is needed, and `Chats` many of them. Needs `holdfast[claude]`.
"""

from holdfast.sdk.claude.chat import Chat, Reset
from holdfast.sdk.claude.pool import Chats
from holdfast.sdk.claude.protection import protect

__all__ = ["Chat", "Chats", "Reset", "protect"]

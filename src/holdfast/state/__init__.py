"""What is known of a session: `fold(state, event) -> state`, one module per kind of fact."""

from holdfast.state.codec import UnreadableState, decode_state, encode_state
from holdfast.state.facts import Fact
from holdfast.state.fold import FoldSession, fold, fold_all
from holdfast.state.model import EMPTY_STATE, State, list_facts

__all__ = [
    "EMPTY_STATE",
    "Fact",
    "FoldSession",
    "State",
    "UnreadableState",
    "decode_state",
    "encode_state",
    "fold",
    "fold_all",
    "list_facts",
]
# What no other package imports.
INSIDE = ("demand_cues", "skills", "symbols", "usage_history", "verdicts")

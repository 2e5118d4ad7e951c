"""What is known of a session: `fold(state, event) -> state`, one module per kind of fact."""

from holdfast.state.codec import UnreadableState, from_document, to_document
from holdfast.state.facts import Fact
from holdfast.state.fold import Folding, fold, fold_all
from holdfast.state.model import EMPTY, State, facts

__all__ = [
    "EMPTY",
    "Fact",
    "Folding",
    "State",
    "UnreadableState",
    "facts",
    "fold",
    "fold_all",
    "from_document",
    "to_document",
]

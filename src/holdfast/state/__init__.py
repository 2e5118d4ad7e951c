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
    "checks",
    "codec",
    "commands",
    "dead_ends",
    "decisions",
    "decode_state",
    "encode_state",
    "errors",
    "facts",
    "fold",
    "fold_all",
    "git_work",
    "identifiers",
    "list_facts",
    "lookups",
    "model",
    "next_step",
    "notes",
    "prose",
    "redaction_gate",
    "replies",
    "requests",
    "shell",
    "subagents",
    "task_summary",
    "tasks",
    "timestamps",
    "touched_files",
]

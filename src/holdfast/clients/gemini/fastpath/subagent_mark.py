"""Whether a subagent is at work: its tool calls come with the main thread's session and no name.

The client says when the tool begins and ends that runs one; in between, what a tool's hook prints
would go to the subagent. Kept in the session's directory, a byte for each; a new prompt and the
end of a turn are the main thread's and begin anew. Imported by the lightest hooks.
"""

from __future__ import annotations

from holdfast.files import append, exists, file_size, make_private_dir, remove, write_atomic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.fastpath.session_dir import SessionDir

SUBAGENT_TOOL = "invoke_agent"
_FILE = "subagents"
_MOST = 100


def begin(session_dir: SessionDir) -> None:
    make_private_dir(session_dir.path)
    append(f"{session_dir.path}/{_FILE}", b".", most=_MOST)


def end(session_dir: SessionDir) -> None:
    path = f"{session_dir.path}/{_FILE}"
    left = file_size(path) - 1
    if left > 0:
        write_atomic(path, b"." * left)
    else:
        remove(path)


def forget(session_dir: SessionDir) -> None:
    remove(f"{session_dir.path}/{_FILE}")


def is_at_work(session_dir: SessionDir) -> bool:
    return exists(f"{session_dir.path}/{_FILE}")

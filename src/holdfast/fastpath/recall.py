"""What comes without being asked: what the session knows of a prompt and the agent no longer has.

Chooses in the index of the session (`cue_index`), says each statement once between two
compactions, and nothing where nothing fits. Imported by the fast hooks where there is an index.
"""

from __future__ import annotations

from holdfast.fastpath import cue_index
from holdfast.fastpath.delivery import ClaimedText, DeliveredItem
from holdfast.fastpath.pending_texts import make_told_key
from holdfast.fastpath.session_dir import INDEX_FILE, WORK_FILE, SessionDir
from holdfast.files import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.fastpath.hook_json import HookPayload

RECALL_OPENING = "Holdfast: from earlier in this session"
HEADING = f"{RECALL_OPENING}, quoted; what is newer counts."
MAX_PROMPT_CHARS = 1_000  # characters that come with a prompt, heading included
MIN_PROMPT_WORDS = 3  # below which a prompt says little: the work at hand is asked about as well
WORK_TENTHS = 23  # as `MIN_TENTHS`, of what a passage must share with the work at hand
COMMAND_TENTHS = 30  # and with a command
NAME_TENTHS = 10  # and with the path of a file that is edited, or with a search
MAX_PROMPT_BYTES = 100_000  # of a prompt; more is pasted
MAX_CALL_CHARS = 420  # characters that come with a tool call, heading included
MAX_CALL_LINES = 2
NEW_SHARE = 0.6  # of its words: a passage with more of its own is told beside another text
CALL_SLOTS = tuple(f"call {number}" for number in range(8))  # calls between two compactions
WORKED_LATER = "the same command worked at"


def claim_for_prompt(
    session_dir: SessionDir, channel: str, prompt: str, claimed: ClaimedText | None, room: int
) -> ClaimedText | None:
    """What was claimed before, and behind it what the prompt speaks of."""
    used = len(claimed.text) + 1 if claimed is not None else 0
    room = min(room - used, MAX_PROMPT_CHARS)
    try:
        index = cue_index.CueIndex(f"{session_dir.path}/{INDEX_FILE}")
    except (OSError, ValueError):
        return claimed
    try:
        told = session_dir.pending.list_told()
        found = recall(index, session_dir.path, prompt, room - len(HEADING) - 1, told)
        if claimed is not None:
            found = [text for text in found if not _is_said(text, claimed.text)]
        epoch = int(index.built.partition(":")[0])
    finally:
        index.close()
    texts = session_dir.pending.claim_told(found) if found else []
    if not texts:
        return claimed
    if claimed is None:
        claimed = ClaimedText(session_dir, channel)
    text = "\n".join([HEADING, *(f"- {text}" for text in texts)])
    kind = f"recall:{make_told_key(texts[0])}"
    claimed.add_told(DeliveredItem(kind, text, epoch), texts)
    return claimed


def claim_for_call(session_dir: SessionDir, payload: HookPayload) -> ClaimedText | None:
    """Before a command how it ended here and the form that worked, after a failure what ended the
    same error, before any call what is known of the names in it.
    """
    try:
        index = cue_index.CueIndex(f"{session_dir.path}/{INDEX_FILE}")
    except (OSError, ValueError):
        return None
    try:
        epoch, _, mode = index.built.partition(":")
        lines = _find_for_call(index, payload) if mode == "all" else []
        told = session_dir.pending.list_told()
        slot = next((one for one in CALL_SLOTS if make_told_key(one) not in told), "")
        lines = [line for line in lines if make_told_key(line) not in told][:MAX_CALL_LINES]
        if not lines or not slot:
            return None
    finally:
        index.close()
    texts = session_dir.pending.claim_told([*lines, slot])
    if slot not in texts or len(texts) < 2:
        return None
    room = (MAX_CALL_CHARS - len(HEADING)) // (len(texts) - 1) - 3
    shown = [f"- {one[: room - 1]}…" if len(one) > room else f"- {one}" for one in texts[:-1]]
    text = "\n".join([HEADING, *shown])
    claimed = ClaimedText(session_dir, payload.event)
    kind = f"recall:{make_told_key(texts[0])}"
    claimed.add_told(DeliveredItem(kind, text, int(epoch)), texts)
    return claimed


def _find_for_call(index: cue_index.CueIndex, payload: HookPayload) -> list[str]:
    if payload.tool_output:
        line = cue_index.find_error_line(payload.tool_output)
        seen = index.find_key(cue_index.error_key(line)) if line else []
        return [text for text in map(index.text, reversed(seen)) if f"({WORKED_LATER}" in text]
    command = payload.tool_command
    if command and (lines := _find_for_command(index, command)):
        return lines
    searched = [payload.tool_input.get(name) for name in ("pattern", "path")]
    names = " ".join(payload.tool_paths or [text for text in searched if type(text) is str])
    # What the same program printed before, it is about to print again.
    same = index.find_key(cue_index.program_key(command)) if command else []
    tenths = COMMAND_TENTHS if command else NAME_TENTHS
    return [text for at, text in index.find(command or names, tenths, tenths) if at not in same][:1]


def _find_for_command(index: cue_index.CueIndex, command: str) -> list[str]:
    """How it failed last, and the form that worked; nothing where it worked."""
    same = index.find_key(cue_index.command_key(command))
    last = index.text(same[-1]) if same else ""
    if not last.startswith("failed") or f"({WORKED_LATER}" in last:
        return []
    others = [one for one in index.find_key(cue_index.program_key(command)) if one > same[-1]]
    worked = [text for text in map(index.text, others) if text.startswith("ran")]
    return [last, *worked[:1]]


def recall(
    index: cue_index.CueIndex,
    folder: str,
    prompt: str,
    room: int,
    told: set[str] | frozenset[str] = frozenset(),
) -> list[str]:
    """Passages that bear on a prompt, in the order in which they were said."""
    tenths = cue_index.MIN_TENTHS
    asked = prompt[:MAX_PROMPT_BYTES]
    if len(set(cue_index.split_words(asked[:400]))) < MIN_PROMPT_WORDS:
        work = read(f"{folder}/{WORK_FILE}") or b""
        asked += "\n" + work.decode("utf-8", "replace")
        tenths = WORK_TENTHS
    found = [
        (number, text)
        for number, text in index.find(asked, tenths)
        if make_told_key(text) not in told
    ]
    return [text for _, text in cue_index.choose_passages(found, room)]


def _is_said(passage: str, text: str) -> bool:
    """Whether much of a passage stands in a text that is handed over with it."""
    words = set(cue_index.split_words(passage.partition(": ")[2]))
    return len(words - set(cue_index.split_words(text))) <= NEW_SHARE * len(words)

"""Trivial briefs: whatever does not beat them clearly is not worth its complexity.

`words` quotes the user, newest first, and what the agent said last. `turns` is a journal: what the
user said and how the agent closed the turn. `cover` chooses sentences that hold rare words.
Each also names todos, edited files and commands, or quotes nothing but what was said.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field

from benchmarks.quality.transcripts import Row, blocks, content, read_prompt, read_text, shorten

EDITS = ("Edit", "Write", "MultiEdit")
COMMAND_LENGTH = 160
COMMANDS = 15
_REFUSED = "The user doesn't want to proceed"


@dataclass(slots=True)
class SessionOutline:
    """What a session says in plain sight."""

    turns: list[list[str]] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    agent: str = ""
    todo: str = ""
    edited: dict[str, None] = field(default_factory=dict)
    # Each command with how it ended: in the order of first runs, and of last runs.
    first_runs: dict[str, str] = field(default_factory=dict)
    last_runs: dict[str, str] = field(default_factory=dict)
    folder: str = ""


def build_outline(rows: list[Row]) -> SessionOutline:
    told = SessionOutline()
    names: dict[object, str] = {}
    told.folder = next((str(r["cwd"]) for r in rows if r.get("cwd")), "") + "/"
    for row in rows:
        if row.get("type") == "user" and not row.get("isMeta") and not row.get("isCompactSummary"):
            if prompt := read_prompt(row):
                told.prompts.append(prompt)
                told.turns.append([prompt, ""])
            for block in blocks(row, "tool_result"):
                _result(told, names, block)
        elif row.get("type") == "assistant":
            if said := read_text(content(row)).strip():
                told.agent = said
                if told.turns:
                    told.turns[-1][1] = said
            for block in blocks(row, "tool_use"):
                _call(told, names, block)
    return told


def _result(told: SessionOutline, names: dict[object, str], block: Row) -> None:
    result = read_text(block.get("content"))
    name = names.get(block.get("tool_use_id"))
    if name is not None:
        bad = bool(block.get("is_error"))
        told.first_runs[name] = "failed" if bad else "ok"
        told.last_runs.pop(name, None)
        told.last_runs[name] = f"failed: {_line(shorten(result, 140))}" if bad else "ok"
    if _REFUSED in result and "said:" in result and told.turns:
        reason = shorten(result.split("said:", 1)[1], 300)
        told.turns[-1][0] += f" | (refusing a call) {reason}"


def _call(told: SessionOutline, names: dict[object, str], block: Row) -> None:
    given = block.get("input")
    given = given if isinstance(given, dict) else {}
    tool = block.get("name")
    if tool in EDITS and given.get("file_path"):
        told.edited.pop(str(given["file_path"]), None)
        told.edited[str(given["file_path"])] = None
    elif tool == "TodoWrite":
        todos = given.get("todos")
        told.todo = "; ".join(
            f"[{t.get('status')}] {t.get('content')}"
            for t in (todos if isinstance(todos, list) else [])
            if isinstance(t, dict)
        )
    elif tool == "Bash":
        names[block.get("id")] = _line(shorten(str(given.get("command")), COMMAND_LENGTH))


def _line(text: str) -> str:
    return text.replace("\n", " ")


def words_brief(told: SessionOutline, room: int) -> str:
    """The user's prompts, newest first in choice and oldest first in the text."""
    parts = ["The agent last said: " + _line(shorten(told.agent, room // 5))]
    if told.todo:
        parts.append("Todo: " + told.todo[: room // 6])
    used = sum(map(len, parts))
    quoted: list[str] = []
    for number, prompt in enumerate(reversed(told.prompts)):
        line = "The user said: " + _line(shorten(prompt, 700 if number < 3 else 350))
        if used + len(line) > room * 0.7:
            break
        quoted.append(line)
        used += len(line) + 1
    parts += quoted[::-1]
    return _with_lists(parts, used, told, told.first_runs, room)


def turns_brief(told: SessionOutline, room: int) -> str:
    """Turns in order: what the user said and how the agent closed; older ones shorter."""
    parts: list[str] = []
    if told.todo:
        parts.append("Todo: " + told.todo[: room // 6])
    used = sum(map(len, parts))
    tail: list[list[str]] = []
    for number, (user, agent) in enumerate(reversed(told.turns)):
        asked, closed = (
            (900, room // 4)
            if number == 0
            else (450, 500)
            if number < 3
            else (260, 260)
            if number < 8
            else (200, 120)
        )
        lines = [f"User: {_spaced(shorten(user, asked))}"]
        if agent:
            lines.append(f"  Agent, closing: {_spaced(shorten(agent, closed))}")
        size = sum(len(x) + 1 for x in lines)
        if used + size > room * 0.8:
            break
        tail.append(lines)
        used += size
    parts += [line for lines in reversed(tail) for line in lines]
    return _with_lists(parts, used, told, told.last_runs, room)


def _spaced(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def _with_lists(
    parts: list[str], used: int, told: SessionOutline, runs: dict[str, str], room: int
) -> str:
    edited = [path.replace(told.folder, "") for path in reversed(told.edited)]
    ran = [f"{command} ({end})" for command, end in list(runs.items())[::-1][:COMMANDS]]
    for line, items in (("Edited: ", edited), ("Ran: ", ran)):
        for item in items:
            if used + len(line) + len(item) + 2 > room:
                break
            line += item + "; "
        parts.append(line)
        used += len(line) + 1
    return "\n".join(parts)[:room]


_SENTENCE = re.compile(r"(?<=[.!?:;])\s+|\n+|(?<=[。！？])")
_WORD = re.compile(r"[\w./#@-]{3,}")
_SHORTEST, _LONGEST = 12, 320


def list_sentences(rows: list[Row]) -> list[str]:
    """Every sentence that the user or the agent said, once, in order of its last time."""
    found: dict[str, None] = {}
    for row in rows:
        who = "User: " if (said := read_prompt(row)) else ""
        if not said and row.get("type") == "assistant":
            said = read_text(content(row))
        for part in _SENTENCE.split(said):
            one = _spaced(part).strip(" -*#>|")
            if len(one) >= _SHORTEST:
                one = shorten(one, _LONGEST)
                found.pop(who + one, None)
                found[who + one] = None
    return list(found)


def cover_brief(said: list[str], room: int) -> str:
    """Sentences that together hold the most rare words per character (greedy)."""
    held = [frozenset(w.lower().strip(".-") for w in _WORD.findall(s)) for s in said]
    df = Counter(w for one in held for w in one)
    count = max(len(said), 1)
    value = {w: math.log(1 + count / n) * min(n, 4) for w, n in df.items()}
    recent: list[float] = [0.5 ** ((count - i) / max(60.0, count / 3)) + 0.25 for i in range(count)]
    covered: set[str] = set()

    def gain(i: int) -> float:
        return recent[i] * sum(value[w] for w in held[i] - covered) / (len(said[i]) + 12)

    queue = sorted(((gain(i), i) for i in range(count) if i < len(said)), reverse=True)
    left, chosen = room, list[int]()
    while queue and left > _SHORTEST:
        best, i = queue.pop(0)
        now = gain(i)
        if queue and now < queue[0][0] and now < best:
            place = next((n for n, q in enumerate(queue) if q[0] <= now), len(queue))
            queue.insert(place, (now, i))
            continue
        if len(said[i]) + 1 <= left and now > 0:
            left -= len(said[i]) + 1
            covered |= held[i]
            chosen.append(i)
    return "\n".join(said[i] for i in sorted(chosen))


def quote_everything_said(rows: list[Row]) -> str:
    """The ceiling of quoting: all that the user and the agent said."""
    told = []
    for row in rows:
        said = read_prompt(row)
        if not said and row.get("type") == "assistant":
            said = read_text(content(row)).strip()
        if said:
            told.append(said)
    return "\n".join(told)


def quote_everything_done(rows: list[Row]) -> str:
    """The ceiling of what a transcript can tell: what was said, tool input and output."""
    told = [quote_everything_said(rows)]
    for row in rows:
        for block in blocks(row, "tool_use"):
            given = block.get("input")
            values = given.values() if isinstance(given, dict) else ()
            told.extend(v if isinstance(v, str) else str(v) for v in values)
        told.extend(read_text(b.get("content")) for b in blocks(row, "tool_result"))
    return "\n".join(told)

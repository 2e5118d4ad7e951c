"""User rows that are no tool results, and the queue of prompts typed ahead.

Owns what such a row is: the user's words, a command, the user's own shell, a summary, or one
of the client's notes; and that words which come by two roads are told once. Must not look at
tool results or at the agent's rows.
"""

from __future__ import annotations

from typing import Any

from holdfast.clients.claude_code import background, words
from holdfast.clients.claude_code.fields import object_of, objects, shown, text
from holdfast.clients.claude_code.memory import TEXT, Held, Memory, checksum
from holdfast.events import (
    CommandInvoked,
    CommandRan,
    Event,
    Origin,
    PlanSet,
    Rewound,
    SummaryGiven,
    TurnEnded,
    UserSaid,
)

# Who a prompt may come from and still be the user's words.
_PEOPLE = frozenset({"", "human", "person", "composer", "voice-call", "remote", "suggestion"})
_CLIENTS_OWN = ("isMeta", "isVisibleInTranscriptOnly", "isVirtual")
# Newer clients also say what began the turn. A voice call has an origin that says so.
_NOT_TYPED = frozenset(
    {"scheduled", "task_notification", "auto_continuation", "peer", "system", "host_synthetic"}
)
_RUN_BY_USER = "run by the user"


def spoken(
    memory: Memory, data: dict[str, Any], at: Origin, content: object, out: list[Event]
) -> None:
    """A user row of the main thread that holds no tool result."""
    if data.get("isCompactSummary") is True:
        out.append(SummaryGiven(at, words.summary_words(shown(content))))
        return
    _notice_rewind(memory, data, at, out)
    memory.note_prompt_id(text(data.get("promptId")))
    if any(data.get(flag) is True for flag in _CLIENTS_OWN):
        return
    said = shown(content).lstrip()
    if said.startswith("<") and _markup(memory, at, said, out):
        return
    if words.is_interruption(said):
        end_turn(memory, at, out)
        return
    if not _from_a_person(data):
        return
    own = words.user_words(said) if isinstance(content, str) else words_in(content)
    if not own:
        return
    memory.open_turn(at.row, at.start)
    memory.turn_open = True
    memory.delivered = 0
    plan = text(data.get("planContent"))
    if plan:
        out.append(PlanSet(at, plan, "", "approved"))
        own = words.without_plan(own, plan)
    out.append(UserSaid(at, own))


def words_in(content: object) -> str:
    """The user's words in a row of blocks; each block is judged by itself."""
    found = []
    for block in objects(content):
        if block.get("type") == "text":
            own = words.user_words(text(block.get("text")))
            if own:
                found.append(own)
    return "\n".join(found)


def delivered(memory: Memory, at: Origin, attached: dict[str, Any], out: list[Event]) -> None:
    """A queued prompt that reaches the agent in the middle of a turn."""
    prompt = attached.get("prompt")
    said = shown(prompt)
    note = words.notification_in(said.lstrip())
    if note is not None:
        out += background.notified(memory, at, note)
        return
    waiting = memory.unqueue(said)
    if attached.get("isMeta") is True or not _from_a_person(attached):
        return
    if not waiting and memory.delivered and memory.delivered == checksum(said):
        memory.delivered = 0  # its removal from the queue told of it before
        return
    own = words.user_words(said) if isinstance(prompt, str) else words_in(prompt)
    if own:
        out.append(UserSaid(at, own, "queued"))


def queued(memory: Memory, data: dict[str, Any], at: Origin) -> list[Event]:
    """A move of the queue: what is dequeued gets a row of its own, what is removed none."""
    operation, said = data.get("operation"), text(data.get("content"))
    if operation == "enqueue":
        note = words.notification_in(said.lstrip())
        if note is not None:
            return background.notified(memory, at, note)
        if said:
            memory.enqueue(said)
    elif operation == "dequeue":
        if not (said and memory.unqueue(said)):
            del memory.queue[:1]
    elif operation == "popAll":  # the user took them back into the editor
        memory.queue.clear()
    elif operation == "remove":
        said = said or (memory.queue[0] if memory.queue else "")
        # Newer clients say why: anything but delivery means that the user withdrew it.
        reached = text(data.get("reason")) in ("", "absorbed_mid_turn")
        # A typed-ahead slash command shows up as a row of its own when it runs.
        if memory.unqueue(said) and reached and not said.startswith("/"):
            memory.delivered = checksum(said)
            own = words.user_words(said)
            return [UserSaid(at, own, "queued")] if own else []
    return []


def marked(memory: Memory, data: dict[str, Any], at: Origin) -> list[Event]:
    """The client's bookmark of the last prompt, which also tells of a rewind.

    Its `cutUuid` is the first prompt that was taken back; the only way to notice a return to
    the very start, where the next prompt has no parent.
    """
    cut = data.get("cutUuid")
    if data.get("rewound") is not True or not isinstance(cut, str):
        return []
    start = memory.prompt_at(cut)
    if start is None:
        return []
    memory.rewind(start)
    return [Rewound(at, start)]


def end_turn(memory: Memory, at: Origin, out: list[Event]) -> None:
    """Told once, though several rows may close a turn."""
    if memory.turn_open:
        memory.turn_open = False
        out.append(TurnEnded(at))


def hold_command(
    memory: Memory, at: Origin, name: str, arguments: str, by: str, call: str = ""
) -> None:
    """Keep a command back until the next row, which may show what it expanded to."""
    memory.held = Held(at.row, at.start, at.end, at.time, name[:TEXT], arguments[:TEXT], by, call)


def tell_command(memory: Memory, data: dict[str, Any], out: list[Event]) -> None:
    """Tell of the command held back, with its expansion if this row has it."""
    held, memory.held = memory.held, None
    if held is None:
        return
    body = ""
    if data.get("type") == "user" and data.get("isMeta") is True:
        source = text(data.get("sourceToolUseID"))
        if source == held.call or not source:
            body = shown(object_of(data.get("message")).get("content"))
    at = Origin(held.row, held.start, held.end, held.time)
    out.append(CommandInvoked(at, held.name, held.arguments, held.by, body))


def _markup(memory: Memory, at: Origin, said: str, out: list[Event]) -> bool:
    """A row that echoes a command or carries a notification; False for anything else."""
    command = words.command_in(said)
    if command is not None:
        if command.name != "compact":  # it stands after the boundary it caused
            memory.open_turn(at.row, at.start)
        if command.expands:
            hold_command(memory, at, command.name, command.arguments, "user")
        else:
            out.append(CommandInvoked(at, command.name, command.arguments, "user"))
        return True
    note = words.notification_in(said)
    if note is not None:
        out += background.notified(memory, at, note)
        return True
    if not said.startswith("<bash-"):
        return False
    if said.startswith("<bash-input>"):
        memory.open_turn(at.row, at.start)
        memory.shell = words.inside(said, "bash-input").strip()[:TEXT]
    if "</bash-stdout>" in said or "</bash-stderr>" in said:
        _shell_ran(memory, at, said, out)
    return True


def _shell_ran(memory: Memory, at: Origin, said: str, out: list[Event]) -> None:
    command, memory.shell = memory.shell, ""
    if not command:
        return
    stdout = words.inside(said, "bash-stdout")
    stderr = words.inside(said, "bash-stderr")
    output = f"{stdout}\n{stderr}" if stdout and stderr else stdout or stderr
    # The client does not say how it ended; errors and nothing else look like failure.
    ok = bool(stdout.strip()) or not stderr.strip()
    out.append(CommandRan(at, command, output, ok, None, _RUN_BY_USER))


def _notice_rewind(memory: Memory, data: dict[str, Any], at: Origin, out: list[Event]) -> None:
    """A prompt that hangs on a row before an earlier prompt leaves what came after.

    Newer clients say so before (see `marked`); older ones, and a resume at an earlier row,
    show it by this alone.
    """
    parent = data.get("parentUuid")
    if memory.rewound or not isinstance(parent, str):
        return
    start = memory.prompt_after(parent)
    if start is not None:
        memory.rewind(start)
        out.append(Rewound(at, start))


def _from_a_person(data: dict[str, Any]) -> bool:
    kind = text(object_of(data.get("origin")).get("kind"))
    if kind not in _PEOPLE or data.get("promptSource") == "system":
        return False
    return data.get("turnOrigin") not in _NOT_TYPED or kind == "voice-call"

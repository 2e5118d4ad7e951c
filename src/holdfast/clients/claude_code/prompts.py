"""User rows other than tool results, and the queue of prompts typed ahead.

Owns what such a row is: the user's words, a command, the user's own shell, a summary, or one
of the client's notes; and that words which come in two ways count once. Must not look at
tool results or at the agent's rows.
"""

from holdfast.clients.claude_code import background_jobs, user_text
from holdfast.clients.claude_code.parser_state import (
    MAX_QUEUED_CHARS,
    ParserState,
    checksum,
)
from holdfast.clients.json_fields import as_object, as_objects, as_text, content_text
from holdfast.events import (
    CommandInvoked,
    CommandRan,
    Event,
    Origin,
    PlanSet,
    Rewound,
    SummaryGiven,
    UserSaid,
)
from holdfast.records import Any

# Who a prompt may come from and still be the user's words.
_PEOPLE = frozenset({"", "human", "person", "composer", "voice-call", "remote", "suggestion"})
_CLIENTS_OWN = ("isMeta", "isVisibleInTranscriptOnly", "isVirtual")
# Newer clients also say what began the turn. A voice call has an origin that says so.
_NOT_TYPED = frozenset(
    {"scheduled", "task_notification", "auto_continuation", "peer", "system", "host_synthetic"}
)
MAIN_AGENT = "the main agent"
_RUN_BY_USER = "run by the user"


def on_user_row(
    parser_state: ParserState, data: dict[str, Any], at: Origin, content: object, out: list[Event]
) -> None:
    """A user row of the main thread that holds no tool result."""
    if data.get("isCompactSummary") is True:
        out.append(SummaryGiven(at, user_text.USER_TEXT.strip_summary_frame(content_text(content))))
        return
    _notice_rewind(parser_state, data, at, out)
    parser_state.note_prompt_id(as_text(data.get("promptId")))
    said = content_text(content).lstrip()
    if teammates := _read_teammates(said, at):
        parser_state.open_turn(at.row, at.start)
        parser_state.turn_open = True
        out += teammates
        return
    if any(data.get(flag) is True for flag in _CLIENTS_OWN):
        return
    if said.startswith("<") and _read_markup(parser_state, at, said, out):
        return
    if said.startswith(user_text.INTERRUPTED):
        parser_state.end_turn(at, out)
        return
    if parser_state.own_agent:
        out.append(UserSaid(at, said, "lead", MAIN_AGENT))
        return
    if not _from_a_person(data):
        return
    own = extract_typed_text(said if isinstance(content, str) else content)
    if not own:
        return
    parser_state.open_turn(at.row, at.start)
    parser_state.turn_open = True
    parser_state.delivered = 0
    plan = as_text(data.get("planContent"))
    if plan:
        out.append(PlanSet(at, plan, "", "approved"))
        own = user_text.strip_plan(own, plan)
    out.append(UserSaid(at, own))


def _read_teammates(said: str, at: Origin) -> list[UserSaid]:
    return [
        UserSaid(at, words, "lead" if name == user_text.LEAD else "peer", name)
        for name, words in user_text.parse_teammates(said)
    ]


def extract_typed_text(content: object) -> str:
    """The user's words in a row, a text or blocks; each block is judged by itself."""
    if isinstance(content, str):
        return user_text.USER_TEXT.extract_user_text(content)
    blocks = (block for block in as_objects(content) if block.get("type") == "text")
    texts = (as_text(block.get("text")) for block in blocks)
    return "\n".join(filter(None, map(user_text.USER_TEXT.extract_user_text, texts)))


def on_queued_delivery(
    parser_state: ParserState, at: Origin, attached: dict[str, Any], out: list[Event]
) -> None:
    """A queued prompt that reaches the agent in the middle of a turn."""
    prompt = attached.get("prompt")
    said = content_text(prompt)
    note = user_text.parse_notification(said.lstrip())
    if note is not None:
        out += background_jobs.on_notification(parser_state, at, note)
        return
    waiting = parser_state.unqueue(said)
    if teammates := _read_teammates(said.lstrip(), at):
        out += teammates
        return
    if parser_state.own_agent and said.strip():
        out.append(UserSaid(at, said.strip(), "lead", MAIN_AGENT))
        return
    if attached.get("isMeta") is True or not _from_a_person(attached):
        return
    if not waiting and parser_state.delivered and parser_state.delivered == checksum(said):
        parser_state.delivered = 0  # its removal from the queue reported it before
        return
    own = extract_typed_text(prompt)
    if own:
        out.append(UserSaid(at, own, "queued"))


def on_queue_operation(parser_state: ParserState, data: dict[str, Any], at: Origin) -> list[Event]:
    """A move of the queue: what is dequeued gets a row of its own, what is removed none."""
    operation, said = data.get("operation"), as_text(data.get("content"))
    if operation == "enqueue":
        note = user_text.parse_notification(said.lstrip())
        if note is not None:
            return background_jobs.on_notification(parser_state, at, note)
        if said:
            parser_state.enqueue(said)
    elif operation == "dequeue":
        if not (said and parser_state.unqueue(said)):
            del parser_state.queue[:1]
    elif operation == "popAll":  # the user took them back into the editor
        parser_state.queue.clear()
    elif operation == "remove":
        said = said or (parser_state.queue[0] if parser_state.queue else "")
        # Newer clients say why: anything but delivery means that the user withdrew it.
        reached = as_text(data.get("reason")) in ("", "absorbed_mid_turn")
        # A typed-ahead slash command shows up as a row of its own when it runs.
        if parser_state.unqueue(said) and reached and not said.startswith("/"):
            parser_state.delivered = checksum(said)
            own = user_text.USER_TEXT.extract_user_text(said)
            return [UserSaid(at, own, "queued")] if own else []
    return []


def on_last_prompt(parser_state: ParserState, data: dict[str, Any], at: Origin) -> list[Event]:
    """The client's bookmark of the last prompt, which also shows a rewind.

    Its `cutUuid` is the first prompt that was taken back; the only way to notice a return to
    the very start, where the next prompt has no parent.
    """
    cut = data.get("cutUuid")
    if data.get("rewound") is not True or not isinstance(cut, str):
        return []
    start = parser_state.prompt_at(cut)
    if start is None:
        return []
    parser_state.rewind(start)
    return [Rewound(at, start)]


def _read_markup(parser_state: ParserState, at: Origin, said: str, out: list[Event]) -> bool:
    """A row that echoes a command or carries a notification; False for anything else."""
    command = user_text.parse_command(said)
    if command is not None:
        if command.name != "compact":  # it comes after the boundary it caused
            parser_state.open_turn(at.row, at.start)
        out.append(CommandInvoked(at, *command, "user"))
        return True
    note = user_text.parse_notification(said)
    if note is not None:
        out += background_jobs.on_notification(parser_state, at, note)
        return True
    if not said.startswith("<bash-"):
        return False
    if said.startswith("<bash-input>"):
        parser_state.open_turn(at.row, at.start)
        parser_state.user_shell_command = user_text.text_in_tag(said, "bash-input").strip()[
            :MAX_QUEUED_CHARS
        ]
    if "</bash-stdout>" in said or "</bash-stderr>" in said:
        _shell_ran(parser_state, at, said, out)
    return True


def _shell_ran(parser_state: ParserState, at: Origin, said: str, out: list[Event]) -> None:
    command, parser_state.user_shell_command = parser_state.user_shell_command, ""
    if not command:
        return
    stdout = user_text.text_in_tag(said, "bash-stdout")
    stderr = user_text.text_in_tag(said, "bash-stderr")
    output = f"{stdout}\n{stderr}" if stdout and stderr else stdout or stderr
    # The client does not say how it ended; errors and nothing else look like failure.
    ok = bool(stdout.strip()) or not stderr.strip()
    out.append(CommandRan(at, command, output, ok, None, _RUN_BY_USER))


def _notice_rewind(
    parser_state: ParserState, data: dict[str, Any], at: Origin, out: list[Event]
) -> None:
    """A prompt that hangs on a row before an earlier prompt leaves what came after.

    Newer clients say so before (see `on_last_prompt`); older ones, and a resume at an earlier row,
    show it by this alone.
    """
    parent = data.get("parentUuid")
    if parser_state.rewound or not isinstance(parent, str):
        return
    start = parser_state.prompt_after(parent)
    if start is not None:
        parser_state.rewind(start)
        out.append(Rewound(at, start))


def _from_a_person(data: dict[str, Any]) -> bool:
    kind = as_text(as_object(data.get("origin")).get("kind"))
    if kind not in _PEOPLE or data.get("promptSource") == "system":
        return False
    return data.get("turnOrigin") not in _NOT_TYPED or kind == "voice-call"

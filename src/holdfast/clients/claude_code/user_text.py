"""Telling the user's own words from everything else in a user row.

Owns the client's markup: which texts are notices, command echoes, reminders or summaries,
and how to take them apart. Must not know rows, memory or events. Texts can be large, so
everything here is plain searching, never a pattern over the whole.
"""

from holdfast.clients.client_protocol import UserText
from holdfast.clients.holdfast_text import HOLDFAST_OPENINGS
from holdfast.records import NamedTuple
from holdfast.text import remove_blocks

# Blocks that the client puts beside or inside a prompt; what is left is the prompt.
_INSERTED = ("system-reminder", "ide_opened_file", "ide_selection", "ide_diagnostics")

# A text that begins so was written by the client, whatever row carries it.
_CLIENT_OPENINGS = (
    *HOLDFAST_OPENINGS,  # the native module places them as plain user rows
    "<agent-message",
    "<agent-notification",
    "<bash-",
    "<channel",
    "<command-",
    "<cross-session-message",
    "<fork-",
    "<local-command-",
    "<mcp-",
    "<new-diagnostics",
    "<persisted-output",
    "<post-tool-use-hook",
    "<session-start-hook",
    "<system-",
    "<task-",
    "<teammate-message",
    "<tick",
    "<total_tokens",
    "<user-prompt-submit-hook",
    "[Request interrupted by user",
    "[SYSTEM NOTIFICATION",
    "Another Claude session sent a message",
    "Base directory for this skill:",
    "Caveat: The messages below were generated",
    "Operation stopped by hook:",
    "Stop hook feedback:",
    "This session is being continued from a previous conversation",
)
# Clients before 2.1 reported subagents alone, under another name.
_NOTIFICATIONS = ("<task-notification", "<agent-notification")
INTERRUPTED = "[Request interrupted by user"

_REFUSED = (
    "The user doesn't want to proceed with this tool use.",
    "The user doesn't want to take this action right now.",
    "User rejected tool use",
)
# A running call that is interrupted gets the refusal's text and this correction to it.
_STOPPED = "this call was stopped while running"
# A call beside it failed, so this one never ran: nothing is known of how it would have gone.
_NOT_RUN = "Sibling tool call errored"
_REFUSAL_WORDS = "the user said:\n"
# Written by the client when its questions are turned down without an answer.
_REFUSAL_OF_QUESTIONS = "The user wants to clarify these questions."
_REFUSAL_NOTE = "\n\nNote: The user's next message may contain"

# Lines the client adds around a summary. The first found of the endings cuts it.
_SUMMARY_OPENING = "This session is being continued from a previous conversation"
_SUMMARY_ENDINGS = (
    "\nIf you need specific details from before compaction",
    "\nPlease continue the conversation from where we left it off",
    "\nContinue the conversation from where it left off",
    "\nThe messages after this summary are the most recent messages",
    "\nRecent messages are preserved verbatim",
)
_PLAN_POINTER = "\nIf you need specific details from before exiting plan mode"


class Command(NamedTuple):
    name: str
    arguments: str


class Notification(NamedTuple):
    """The client's note that background work ended."""

    task: str
    call: str  # the tool call that began it, "" where the client does not say
    status: str
    summary: str
    result: str


_FROM_AGENT = "Another Claude session sent a message"
_MESSAGES = (("teammate-message", ' teammate_id="'), ("agent-message", ' from="'))
LEAD = "team-lead"


def parse_teammates(text: str) -> list[tuple[str, str]]:
    """(agent, what they said) of each message that a row brings, without the client's notes."""
    found = []
    text = text.partition("\n")[2] if text.startswith(_FROM_AGENT) else text
    while tag := next((one for one in _MESSAGES if text.startswith(f"<{one[0]} ")), None):
        head, _, rest = text.partition(">")
        said, _, text = rest.partition(f"</{tag[0]}>")
        name = head.partition(tag[1])[2].partition('"')[0]
        if name and said.strip() and not said.lstrip().startswith("{"):
            found.append((name[:100], said.strip()))
        text = text.lstrip()
    return found


def _is_framed(text: str) -> bool:
    """All of it in one frame whose name no markup language has: `<ci-monitor-event>`."""
    if not text.startswith("<") or not text.endswith(">"):
        return False
    name = text[1:80].partition(">")[0].partition(" ")[0]
    plain = name.replace("-", "").replace("_", "")
    return ("-" in name or "_" in name) and plain.isalnum() and text.endswith(f"</{name}>")


def _is_task(text: str) -> bool:
    """A background task that some clients (seen: 2.1.47) put in the queue of prompts as JSON."""
    return text.startswith('{"task_id":"') and '"task_type":"' in text


def parse_command(text: str) -> Command | None:
    """The slash command a user row echoes."""
    if not text.startswith("<command-"):
        return None
    name = text_in_tag(text, "command-name").strip().lstrip("/")
    if not name:
        return None
    arguments = text_in_tag(text, "command-args").strip()
    return Command(name, arguments)


def parse_notification(text: str) -> Notification | None:
    if not text.startswith(_NOTIFICATIONS):
        return None
    task = (text_in_tag(text, "task-id") or text_in_tag(text, "agent-id")).strip()
    if not task:
        return None
    return Notification(
        task,
        text_in_tag(text, "tool-use-id").strip(),
        text_in_tag(text, "status").strip(),
        text_in_tag(text, "summary").strip(),
        text_in_tag(text, "result").strip(),
    )


def is_refusal(text: str) -> bool:
    return text.startswith(_REFUSED) and not is_interrupted_call(text)


def is_interrupted_call(text: str) -> bool:
    """A tool call that was interrupted or never came to run, by one client's words or another's."""
    opening = text[:1000]
    return INTERRUPTED in opening or _STOPPED in opening or _NOT_RUN in opening


def extract_refusal_text(text: str) -> str:
    """What the user said while turning a tool call down."""
    _, said, words = text.partition(_REFUSAL_WORDS)
    if not said:
        return ""
    words = words.partition(_REFUSAL_NOTE)[0].strip()
    return "" if words.startswith(_REFUSAL_OF_QUESTIONS) else words


def strip_plan(text: str, plan: str) -> str:
    """The words around a plan that the client pasted into a prompt."""
    found = text.find(plan) if plan else -1
    if found < 0:
        return text.strip()
    rest = text[found + len(plan) :].partition(_PLAN_POINTER)[0]
    title = plan.strip().partition("\n")[0]  # which one it was
    return f"{text[:found].strip()}\n{title}\n{rest.strip()}".strip()


def text_in_tag(text: str, tag: str) -> str:
    """The text between a tag and its end, "" where there is none."""
    opening = f"<{tag}>"
    start = text.find(opening)
    if start < 0:
        return ""
    start += len(opening)
    end = text.find(f"</{tag}>", start)
    return text[start:end] if end >= 0 else text[start:]


class ClaudeCodeText(UserText):
    # Of a message of which only the beginning is known: the summary, or markup.
    CLIENT_OPENINGS = ("This session is being continued", "<")

    def extract_user_text(self, text: str) -> str:
        """What the user typed in this text; "" when all of it is the client's."""
        if "<" in text:
            for tag in _INSERTED:
                text = remove_blocks(text, tag)
            if text.startswith("<user-memory-input>"):
                text = text_in_tag(text, "user-memory-input")
        text = text.strip()
        clients = text.startswith(_CLIENT_OPENINGS) or _is_task(text) or _is_framed(text)
        return "" if clients else text

    def strip_summary_frame(self, text: str) -> str:
        """The summary itself; whole where the client's own lines are not recognised."""
        if not text.startswith(_SUMMARY_OPENING):
            return text.strip()
        body = text.partition("\n")[2]
        if "<system-reminder>" in body:
            body = remove_blocks(body, "system-reminder")
        for ending in _SUMMARY_ENDINGS:
            found = body.rfind(ending)
            if found >= 0:
                body = body[:found]
        return body.strip().removeprefix("Summary:").strip() or text.strip()


USER_TEXT = ClaudeCodeText()

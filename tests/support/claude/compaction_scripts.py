"""Ways to make the client compact, as pieces of a script.

Owns the recipes. Each gives replies for a `ScriptedApi` or settings for a `Client`; the test
says when. Manual compaction is `LiveSession.compact`.
"""

from .model_replies import Reply, bash, prompt_too_long, text, tool

# The smallest window the client takes. It keeps 20,000 tokens for the answer and 13,000 in
# reserve, so it compacts when a conversation passes 67,000.
SMALL_WINDOW = {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000"}

# The client's own prompt and tools take about 41,000 tokens at three characters each, so a few
# fillings of 8,000 pass the threshold once. Bash output is cut at 30,000 characters.
FILLING_LINES = 600
FILLINGS_TO_COMPACT = 5


def filling(mark: str = "") -> Reply:
    """A Bash call whose output is about 23,000 characters."""
    count = f"i=0; while [ $i -lt {FILLING_LINES} ]; do"
    line = "printf '%05d filler words to grow the context\\n' $i; i=$((i+1)); done"
    return bash(f"{count} {line} # {mark}", "print a long listing")


def compaction_by_window(*then: Reply | str) -> list[Reply]:
    """Tool output that outgrows SMALL_WINDOW in the middle of a turn, then the rest of it."""
    filled = [filling(str(n)) for n in range(FILLINGS_TO_COMPACT)]
    return filled + _replies(then or ("Filled.",))


def fills_the_window(reply: Reply) -> Reply:
    """A reply that claims 172,000 tokens: an automatic compaction without any filler.

    The client compacts before its next request: within the turn if the reply calls a tool,
    else when the user speaks again. New clients need SMALL_WINDOW for it; old ones compact at
    167,000 by themselves. It must stay below 177,000, where a client may refuse to go on.
    """
    return reply.with_usage(
        input_tokens=4,
        cache_creation_input_tokens=2_000,
        cache_read_input_tokens=169_996,
        output_tokens=100,
    )


def compaction_by_error(*then: Reply | str) -> list[Reply]:
    """A request refused as too long: the client compacts and asks again (not before 2.1.191)."""
    return [prompt_too_long(), *_replies(then or ("Compacted and went on.",))]


def mid_turn_compaction(*then: Reply | str) -> list[Reply]:
    """A tool runs, the request with its result is refused, the same turn goes on."""
    return [bash("echo before the refusal"), *compaction_by_error(*then)]


def run_subagent(prompt: str, *, background: bool = False) -> Reply:
    """The main thread's call; the subagent's own replies are the `subagent` script.

    Without `run_in_background` a new client launches it beside the turn and reports back
    with a <task-notification> prompt of its own.
    """
    return tool(
        "Agent",
        description="look into it",
        prompt=prompt,
        subagent_type="general-purpose",
        run_in_background=background,
    )


def subagent_that_compacts(result: str = "The subagent's result.") -> list[Reply]:
    """For the `subagent` script, with SMALL_WINDOW: tool calls, a compaction, a result."""
    return [
        bash("echo first finding of the subagent"),
        bash("echo second finding of the subagent"),
        fills_the_window(bash("echo third finding of the subagent")),
        text(result),
    ]


def _replies(pieces: tuple[Reply | str, ...]) -> list[Reply]:
    return [text(piece) if isinstance(piece, str) else piece for piece in pieces]

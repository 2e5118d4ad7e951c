"""What was found out here: the options that go with a tool, and what was looked at last."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import partial

from holdfast.brief.lines import BEFORE_COMMAND, Line, SizeLimits, shorten_paths
from holdfast.brief.lines import format_command as shown
from holdfast.lazy_regex import lazy_compile
from holdfast.state.git_printed import list_commits
from holdfast.state.lookups import SERVER_TOOL, Lookup
from holdfast.state.model import State
from holdfast.text import collapse_whitespace, truncate_words

# An option belongs to a tool here when it stands with this share of its calls, and in so many.
USUAL_SHARE = 0.6
MIN_USUAL_CALLS = 3
MAX_USUAL = 6
# Of look-ups, those that only read files say nothing of how things are done here.
_READERS = frozenset(
    """ls cat head tail grep egrep rg find fd sed awk wc echo printf which pwd sort uniq cut tr
    diff jq yq tree file stat ps sleep true for do done while if then fi case esac read xargs cd
    test [ [[ basename dirname realpath readlink column comm nl tac seq date export env""".split()
)
_OPENERS = frozenset("cat head tail sed grep egrep rg find fd awk jq diff".split())
_OPTION = lazy_compile(r"(?<=\s)(--[a-z][\w-]+|-[A-Za-z])[ =](?!-)([^\s\"'`|;&<>()]+)(?=\s|$)")
_VARIABLE = lazy_compile(r"\$\{?(\w+)\}?")
_SHORT = {("gh", "-R"): "--repo", ("kubectl", "-n"): "--namespace", ("pnpm", "-F"): "--filter"}
_BEFORE = lazy_compile(BEFORE_COMMAND)
_HEAD = lazy_compile(rf"{BEFORE_COMMAND}([\w./@-]+)")
# Options of how something is printed or how much of it, and of which branch or run is meant.
_OF_OUTPUT = frozenset(
    "--json --jq --format --limit --output --reporter --color --tail --branch --head --ref".split()
)
WIDE_LINE = 150  # characters of a line where there is room for what was only looked at
UNANSWERED = 2  # latest replies of the agent, which may not have told yet what was seen
MAX_LOOKED_UP = 5
MAX_READ = 4
MAX_SHOWN_LINES = 4  # of what a look-up printed, at either end


def usual(state: State, size: SizeLimits) -> Iterator[Line]:
    """Options that most calls of a tool carried: "`gh pr`: 15 of 19 calls with `--repo X`"."""
    if size.tight:
        return
    calls: Counter[tuple[str, str]] = Counter()
    carried: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for text, times in _list_typed(state):
        words = _BEFORE.sub("", text, count=1).split(None, 2)
        tool, verb = _read_tool(text), words[1] if words[1:] and words[1].isalpha() else ""
        calls[tool, verb] += times
        for option in _list_options(tool, text):
            carried[tool, option][verb] += times
    told = 0
    for (tool, option), verbs in sorted(carried.items(), key=lambda item: -item[1].total()):
        if verbs.total() < MIN_USUAL_CALLS or told >= MAX_USUAL:
            return
        of = [one for one in calls if one[0] == tool and ("" in verbs or one[1] in verbs)]
        total = sum(calls[one] for one in of)
        if tool and verbs.total() >= USUAL_SHARE * total:
            told += 1
            named = ", ".join(f"`{tool} {verb}`" for verb in verbs) if "" not in verbs else ""
            yield Line(
                f"- {named or f'`{tool}`'}: {verbs.total()} of {total} calls with `{option}`"
            )


def _list_options(tool: str, text: str) -> set[str]:
    """Long options with their values, which stand for variables where those are known."""
    found = set()
    for name, value in _OPTION.findall(text):
        name = _SHORT.get((tool, name), name)
        value = _VARIABLE.sub(partial(_find_value, text), value)
        if name.startswith("--no-"):  # a switch: what stands behind it is no value of it
            found.add(name)
        elif name.startswith("--") and name not in _OF_OUTPUT and "$" not in value:
            found.add(f"{name} {value}")
    return found


def _find_value(text: str, used: re.Match[str]) -> str:
    """A variable's value, where the command is told with it."""
    held = re.match(rf"(?:.* && )?{used[1]}=[\"']?(.*?)[\"']? && ", text)
    return held[1] if held else used[0]


def _read_tool(text: str) -> str:
    found = _HEAD.match(text)
    return found[1].rpartition("/")[2] if found else ""


def list_asked(state: State) -> Iterator[tuple[str, Lookup]]:
    """Look-ups that a tool had to be asked in the right way for: no plain reading of files."""
    for one in state.lookups.values():
        for text in one.subject.split("; ") if one.what == "Bash" else ():
            head = _read_tool(text)
            words = _BEFORE.sub("", text, count=1).split(None, 2)
            if head == "git":  # where something else than files is read: `git show REF:PATH`
                telling = len(words) > 2 and words[1] == "show" and ":" in words[2]
            else:
                telling = bool(head) and head not in _READERS and "=" not in words[0]
            if telling and not text.endswith("…") and len(words) > 1:
                yield text, one


def looked_up(state: State, size: SizeLimits) -> Iterator[Line]:
    """What was looked at last and what it showed, the latest first; of files their names.

    Nothing from before the last change, the last commit or the agent's last words but one: it may
    show otherwise now, and what mattered in it was said. What a server answered is told all the
    same, with the ids that it gave.
    """
    if size.line < WIDE_LINE:
        return
    spoken = [reply.step for reply in state.replies.values() if reply.by == "agent"]
    edits = [file.changed_step for file in state.files.values()]
    commits = [line.step for line in list_commits(state.git_printed)]
    changed = max([-1, *edits, *commits, *spoken[:-UNANSWERED]])
    latest = sorted(state.lookups.values(), key=lambda one: -one.step)
    read = [one for one in latest if one.step > changed and _reads(one)][:MAX_READ]
    if read:
        yield Line(f"- read or searched: {'; '.join(_format_lookup(one, state) for one in read)}")
    asked = [
        one
        for one in latest
        if one.shown
        and (one.what.startswith(SERVER_TOOL) or (one.step > changed and _asks_more(one)))
    ]
    for one in asked[:MAX_LOOKED_UP]:
        printed = _shorten_output(shorten_paths(one.shown, state), size.line)
        yield Line(f"- {_format_lookup(one, state)} → {printed}")


def _reads(one: Lookup) -> bool:
    """Whether it read or searched files, and did not only list them."""
    if one.what == "Bash":
        tools = [_read_tool(part) for part in one.subject.split("; ")]
        return not _asks_more(one) and not _OPENERS.isdisjoint(tools)
    return one.what in ("Read", "Search")


def _asks_more(one: Lookup) -> bool:
    """Whether it asked for more than what stands in a file, which can be read again."""
    parts = one.subject.split("; ") if one.what == "Bash" else ()
    return any(_read_tool(part) not in _READERS for part in parts)


def _format_lookup(one: Lookup, state: State) -> str:
    subject = shown(shorten_paths(collapse_whitespace(one.subject), state), 100)
    if one.what in ("Bash", "Search"):
        return f"`{subject}`"
    if one.what == "Read":
        return subject
    return f"{one.what.removeprefix(SERVER_TOOL).replace('__', ' ')} {subject}"


def _shorten_output(text: str, limit: int) -> str:
    lines = [line for line in map(collapse_whitespace, text.split("\n")) if line]
    if len(lines) > 2 * MAX_SHOWN_LINES:
        lines = [*lines[:MAX_SHOWN_LINES], "…", *lines[-MAX_SHOWN_LINES:]]
    return truncate_words(" / ".join(lines), limit)


def _list_typed(state: State) -> Iterator[tuple[str, int]]:
    """Every command that is kept, with how often it was run."""
    for command in state.commands.values():
        yield command.text, command.times
    for one in state.lookups.values():
        for text in one.subject.split("; ") if one.what == "Bash" else ():
            yield text, one.times

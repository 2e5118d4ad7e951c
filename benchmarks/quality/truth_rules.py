"""Truth: every stated line, checked by rules against what the transcript proves.

A rule knows the text's words and the evidence, and nothing of how the product made the line. What
no rule can check is counted apart; a judgement without a speaker fails, since it should have been
quoted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from benchmarks.quality import stated_lines as S
from benchmarks.quality.evidence import (
    CommandRun,
    Evidence,
    Utterance,
    strip_quotations,
    to_one_line,
)
from benchmarks.quality.stated_lines import Stated

NOT_USERS, PASTED, NOT_AGENTS = "not the user's words", "only pasted", "not the agent's words"
NOT_REPORTED, NOT_COMMITTED = "not in a report", "not in a commit's message"
NEVER_RUN, NOT_WHOLE, VERDICT = "command never run", "command not whole", "verdict not so"
TASK, FILE, BRANCH = "task not so", "file not so", "branch not so"
ID, GIT = "id not whole or of another kind", "git state not so"
NO_SPEAKER, NO_ROWS = "judged without a speaker", "rows not before the cut"
# As much of a line tells whose it is.
OWN_START = 20
RULES = (
    NOT_USERS, PASTED, NOT_AGENTS, NOT_REPORTED, NOT_COMMITTED, NEVER_RUN, NOT_WHOLE, VERDICT, TASK,
    FILE, BRANCH, ID, GIT, NO_SPEAKER, NO_ROWS,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Failure:
    rule: str
    line: str
    why: str


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of one text."""

    lines: int  # that some rule could check
    unchecked: tuple[str, ...]
    failures: tuple[Failure, ...]

    @property
    def failed_lines(self) -> int:
        return len({failure.line for failure in self.failures})


def check_lines(lines: list[Stated], proof: Evidence) -> Checked:
    counted, unchecked, failures = 0, [], []
    for line in lines:
        found, known = _check_line(line, proof)
        counted += known
        if not known:
            unchecked.append(line.line)
        failures += [Failure(rule, line.line, why) for rule, why in found]
    return Checked(counted, tuple(unchecked), tuple(failures))


Found = Iterator[tuple[str, str]]


def _check_line(line: Stated, proof: Evidence) -> tuple[list[tuple[str, str]], bool]:
    """What fails, and whether any rule applied."""
    failures: list[tuple[str, str]] = []
    known = True
    if line.kind == S.USER:
        failures += _user(line, proof)
    elif line.kind == S.AGENT:
        failures += _agent(line, proof)
    elif line.kind in (S.OPEN_TASK, S.DONE_TASK, S.DROPPED_TASK):
        failures += _tasks(line, proof)
    elif line.kind == S.COMMAND and line.commands:
        failures += _commands(line, proof)
    elif line.kind in (S.EDITED, S.SEEN):
        failures += _files(line, proof)
    elif line.kind in (S.REPORT, S.SUMMARY):
        failures += _report(line, proof)
    elif line.kind == S.COMMITTED:
        failures += _committed(line, proof)
    elif line.kind == S.JUDGED:
        failures += _judged(line, proof)
    elif line.kind == S.REFUSED:
        failures += _refused(line, proof)
    elif _NO_CHECK.search(line.body):
        failures += [(VERDICT, run.command) for run in proof.runs if _CHECKS.search(run.command)]
    else:
        known = line.kind == S.VALUE
    if line.kind == S.EDITED:
        failures += _git(_bare(line), proof)
        failures += _uncommitted(line, proof)
    if line.kind not in (
        S.USER, S.AGENT, S.EDITED, S.SEEN, S.JUDGED, S.REPORT, S.SUMMARY, S.REFUSED, S.COMMITTED
    ):  # fmt: skip
        values = list(_values(line, proof))
        known = known or bool(_HASHES.search(_bare(line)) or "http" in line.body)
        failures += values
    if line.rows:
        known = True
        if missing := [row for row in line.rows if not _has_row(row, proof)]:
            failures.append((NO_ROWS, ", ".join(missing)))
    return failures, known


def _has_row(row: str, proof: Evidence) -> bool:
    return row in proof.rows or any(known.startswith(row) for known in proof.rows if len(row) >= 8)


# Whose words ---------------------------------------------------------------------------------

_ESCAPED = re.compile(r"\\([\"`$\\])")
_CUT = re.compile(r"\s*(?:\[…\]|\[\.\.\.\]|…|\[redacted[^\]]*\]|<redacted[^>]*>)\s*")


def is_quoted_from(quote: str, text: str) -> bool:
    """Verbatim; where it was cut, its parts stand in order."""
    quote = to_one_line(quote)
    if not quote or quote in text:
        return True
    at = 0
    for part in _CUT.split(quote):
        if not part:
            continue
        found = text.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return True


# A piece of a message that stands by itself has at least so many characters.
PIECE = 8


def stands_in_pieces(quote: str, text: str) -> bool:
    """Whether a quotation is made of pieces of a text, in their order, with nothing between.

    A text leaves out code and headings between sentences without a mark; each stretch that it
    quotes has to be found word for word, behind the one before.
    """
    words = [word for word in to_one_line(_CUT.sub(" ", quote)).split(" ") if word]
    at = done = 0
    while done < len(words):
        low, high = 0, len(words) - done
        while low < high:
            middle = (low + high + 1) // 2
            if text.find(" ".join(words[done : done + middle]), at) >= 0:
                low = middle
            else:
                high = middle - 1
        piece = " ".join(words[done : done + low])
        if len(piece) < PIECE:
            return False
        at = text.find(piece, at) + len(piece)
        done += low
    return True


_MARKS = re.compile(r"(?m)^\s*(?:[#>]+\s+|[-*•]\s+|\d{1,2}[.)]\s+|\|\s*)+|^[\s|:+=_*#-]+$")


_TABLE = re.compile(r"(?m)^\s*\|(?:[\s|:-]*$)?")


def _said_by(quote: str, words: list[Utterance], *, plain: bool, joined: bool = False) -> bool:
    """Word for word; the marks of a list and a table may be left out."""
    for w in words:
        unmarked = to_one_line(_MARKS.sub(" ", strip_quotations(w.text) if plain else w.text))
        if is_quoted_from(quote, w.plain if plain else to_one_line(w.text)) or is_quoted_from(
            quote, unmarked
        ):
            return True
        if joined and stands_in_pieces(quote, unmarked):
            return True
        if is_quoted_from(quote, to_one_line(_TABLE.sub(" ", w.text))) and not plain:
            return True
    return False


def _parts(quote: str) -> list[list[str]]:
    """A straight quotation whole, or as the quotations that may stand in one line."""
    pieces = quote.split('"')
    return [[quote], pieces[::2]] if len(pieces) > 2 else [[quote]]


def _user(line: Stated, proof: Evidence) -> Found:
    for asked in re.findall(r'^asked "(.*)"$', line.about):
        if not is_quoted_from(asked, to_one_line(proof.everything)):
            yield NOT_AGENTS, asked
    joined = line.joined
    for quote in line.quotes or [line.body]:
        ways = _parts(quote)
        if any(all(_said_by(p, proof.user, plain=True, joined=joined) for p in w) for w in ways):
            continue
        if any(all(_said_by(p, proof.user, plain=False, joined=joined) for p in w) for w in ways):
            if line.about == "pasted":
                continue  # and told so
            if not _holds_own_words(quote, proof.user) and not _any_own(line, quote, proof):
                yield PASTED, quote
        elif _said_by(quote, proof.agent, plain=False):
            yield NOT_USERS, f"the agent's: {quote}"
        elif is_quoted_from(quote, to_one_line(proof.everything)):
            yield NOT_USERS, f"stands elsewhere: {quote}"
        else:
            yield NOT_USERS, f"nobody's: {quote}"


def _any_own(line: Stated, quote: str, proof: Evidence) -> bool:
    """Whether another part of the same message, quoted beside it, is the user's own."""
    others = [other for other in line.quotes if other != quote]
    return any(_said_by(other, proof.user, plain=True) for other in others)


def _holds_own_words(quote: str, words: list[Utterance]) -> bool:
    """Whether a quotation of a message with a paste in it holds the sentence around the paste."""
    for one in words:
        if is_quoted_from(quote, to_one_line(one.text)):
            own = [to_one_line(line)[:OWN_START] for line in strip_quotations(one.text).split("\n")]
            if any(start and start in to_one_line(quote) for start in own):
                return True
    return False


def _agent(line: Stated, proof: Evidence) -> Found:
    if "has not answered" in line.body:
        asked = proof.user[-1].at if proof.user else -1
        if proof.agent and proof.agent[-1].at > asked:
            yield VERDICT, f"answered: {proof.agent[-1].plain[:80]}"
        return
    for quote in line.quotes or [line.body]:
        ways = _parts(quote)
        if not any(
            all(_said_by(p, proof.agent, plain=False, joined=line.joined) for p in way)
            for way in ways
        ):
            yield NOT_AGENTS, quote


def _report(line: Stated, proof: Evidence) -> Found:
    """What a subagent was asked and answered stands somewhere, word for word."""
    everything = to_one_line(proof.everything)
    for part in line.quotes or re.split(r": | → ", line.body.removeprefix("job: ")):
        told = re.sub(r"^(?:job|subagent|task|agent) ", "", part.strip('"“” :'))
        # A role and an id stand in different places of a row.
        words = told.split() if len(told.split()) == 2 else [told]
        if all(is_quoted_from(word, everything) for word in words):
            continue
        if not line.joined or not stands_in_pieces(
            told, to_one_line(_MARKS.sub(" ", proof.everything))
        ):
            yield NOT_REPORTED, part


def _committed(line: Stated, proof: Evidence) -> Found:
    """The message of a commit that was made: it stands in the command, word for word."""
    ran = [
        run.command
        for run in proof.runs
        if "git" in run.command and "commit" in run.command and not run.failed and not run.refused
    ]
    # In double quotes the shell takes the backslashes away.
    forms = [form for command in ran for form in (command, _ESCAPED.sub(r"\1", command))]
    texts = [to_one_line(_MARKS.sub(" ", form)) for form in forms]
    for quote in line.quotes:
        if not any(
            is_quoted_from(quote, text) or (line.joined and stands_in_pieces(quote, text))
            for text in texts
        ):
            yield NOT_COMMITTED, quote


def _refused(line: Stated, proof: Evidence) -> Found:
    """A call that was made, and that the user turned down."""
    body = re.sub(r" \([^()]*\)$", "", line.body)
    tool, _, given = body.partition(": ")
    if not given:  # the user's words alone
        yield from _user(line, proof)
        return
    if tool != "Bash":
        if not is_quoted_from(given, to_one_line(proof.everything)):
            yield NEVER_RUN, body
        return
    head = to_one_line(_CUT.split(given)[0])
    asked = [
        run
        for run in proof.runs
        if any(form.startswith(head) for form in _forms(run.command, proof.folders))
    ]
    if not asked:
        yield NEVER_RUN, given
    elif not any(run.refused for run in asked):
        yield VERDICT, f"not refused: {given}"


def _judged(line: Stated, proof: Evidence) -> Found:
    if _A_COMMAND.match(line.body):
        yield from _commands(line, proof)
        return
    if _was_tried(line.body.split(" → ")[0], proof):
        return
    if not line.quotes:
        yield NO_SPEAKER, line.body
        return
    for quote in line.quotes:
        if not _said_by(quote, [*proof.user, *proof.agent], plain=False):
            yield NOT_USERS, f"nobody's: {quote}"


_A_COMMAND = re.compile(r"^`[^`]+`(?:$|:| \(| →| (?:ok|failed|passed)\b)")


def _was_tried(body: str, proof: Evidence) -> bool:
    """A call that was made, whole: a command, or a tool with the file it was for."""
    tool, _, given = body.partition(": ")
    if given and re.fullmatch(r"\w+", tool):
        return bool(find_runs(given, proof.runs, proof.folders)[0]) or any(
            _ends(p, given) for p in proof.paths
        )
    tried = (body, re.sub(r" \([^()]*(?:\([^()]*\)[^()]*)*\)\s*$", "", body))
    return any(find_runs(one, proof.runs, proof.folders)[0] for one in tried)


# Commands ------------------------------------------------------------------------------------

_LEFT = re.compile(
    r"(?:^|&&|\|\||[;|({&]|\b(?:do|then|else|sudo|time|exec)|\$\(|`|[A-Z_]+=\S*)\s*$"
)
_RIGHT = re.compile(r"^\s*(?:$|&&|\|\||[;|)}&]|\d?>|<|`)")
_ONLY_FOLDER = re.compile(r"^(?:cd [^&;|]+(?:&&|;)\s*)?$")
_BEFORE = re.compile(r"cd \S+|[A-Za-z_]\w*=(?:\"[^\"]*\"|'[^']*'|\S*)")
_TOOL_CALL = re.compile(r"[\w\"> <]+ \{")
_ECHO_INSTEAD = re.compile(r"\|\| echo [\"']?([^\"'\n]+)")
_MORE_COMMANDS = re.compile(r"&&|\|\||;")
_PASSED = re.compile(r"(?i)\b(?:ok|pass(?:ed|es|ing)?|green|succe\w+|works|worked)\b")
_FAILED = re.compile(r"(?i)\bfail\w*\b|\berrors?\b|\bred\b|\bdid not work\b")
_SHOWS_FAILURE = re.compile(
    r"(?im)\b[1-9]\d* (?:failed|failing|failures?|errors?)\b|\tfail\t|^(?:--- )?FAIL\b"
    r"|\bFAILED\b|\berror\b|\bexit\w*(?: code| status)?[:= ]+[1-9]|not found|no such|traceback"
    r"|\"success\": ?false"
)
_SURELY_FAILED = re.compile(r"(?m)\b[1-9]\d* (?:failed|failing)\b|^(?:--- )?FAIL\b")
# So much of a long command says which one it was; a text in the command need not be told.
MUCH = 60
_HERE_TEXT = re.compile(r"\s*(?:\"?\$\()?\s*(?:cat )?<<")
_NO_CHECK = re.compile(r"\bno test, lint or build\b")
_CHECKS = re.compile(
    r"(?:^|[;&|]|\brun )\s*(?:pytest|tox|ruff|mypy|eslint|tsc|jest|vitest|test\S*|lint\S*|build"
    r"|go (?:test|vet|build)|cargo (?:test|check|build|clippy)|(?:npm|pnpm|yarn) (?:run )?"
    r"(?:test|lint|build)|make (?:test|lint|build|check))\b(?! [!=-])"
)
_IS_HISTORY = re.compile(r"(?i)\b(?:last run|passed|failed|verified|checks|sent outside)\b")
_SINCE = re.compile(
    r"(?i)\bno code edited since, only"
    r"|\b(no|nothing|not)\b[^.;]*\b(?:edit|chang)\w*(?: seen)? since"
    r"|\b(?:edit|chang)\w* since"
)


@dataclass(frozen=True, slots=True)
class FoundRun:
    """One run of a command; `alone` when nothing else in the run could have failed."""

    run: CommandRun
    alone: bool


def find_runs(
    command: str, runs: list[CommandRun], folders: Collection[str] = ()
) -> tuple[list[FoundRun], bool]:
    """The runs of a command, and whether it was only found as a part that is not whole."""
    with_it, wanted = _split_before(to_one_line(command))
    whole, part = [], False
    for run in runs:
        for form in _forms(run.command, folders):
            at = _place(wanted, form) if all(piece in form for piece in with_it) else None
            if at is None:
                part = part or wanted in form
                continue
            before, after = form[:at], form[at + len(wanted) :]
            alone = bool(_ONLY_FOLDER.match(before)) and not _MORE_COMMANDS.search(after)
            whole.append(FoundRun(run, alone))
            break
    return whole, part


def _split_before(command: str) -> tuple[list[str], str]:
    """The folder and the variables that are told with a command, and the command: in its run they
    stand somewhere before it."""
    *before, last = command.split(" && ")
    kept = [piece for piece in before if not _BEFORE.fullmatch(piece)]
    told = [piece for piece in before if _BEFORE.fullmatch(piece)]
    return told, " && ".join([*kept, last])


def _forms(command: str, folders: Collection[str]) -> Iterator[str]:
    """A command as one line: as it is, by its lines, and with paths from its folder."""
    command = command.replace("\\\n", " ")
    for form in (to_one_line(command), to_one_line(re.sub(r"\n+", " ; ", command.strip()))):
        yield form
        for folder in folders:
            if folder + "/" in form:
                yield form.replace(folder + "/", "")


def _place(wanted: str, form: str) -> int | None:
    at = form.find(wanted)
    while at >= 0:
        if _LEFT.search(form[:at]) and _RIGHT.match(form[at + len(wanted) :]):
            return at
        at = form.find(wanted, at + 1)
    return None


def _commands(line: Stated, proof: Evidence) -> Found:
    for command in line.commands:
        cut = bool(_CUT.search(command))
        if _TOOL_CALL.match(command):
            given = re.findall(r'"([^"\\]{6,})', command.rstrip("…"))
            if not all(is_quoted_from(one, to_one_line(proof.everything)) for one in given):
                yield NEVER_RUN, command
            continue
        found, part = find_runs(command, proof.runs, proof.folders)
        if not found:
            head = to_one_line(_CUT.split(command)[0])
            forms = [form for run in proof.runs for form in _forms(run.command, proof.folders)]
            begun = [form.partition(head)[2] for form in forms if head in form]
            happened = _IS_HISTORY.search(line.label) or f"`{command}` failed" in line.body
            long = len(head) >= MUCH or any(_HERE_TEXT.match(rest) for rest in begun)
            if cut and begun and happened and long:
                continue  # nobody is told to run it so
            yield (NOT_WHOLE if begun or part else NEVER_RUN), command
            continue
        yield from _verdict(line, command, found, proof)


def _verdict(line: Stated, command: str, found: list[FoundRun], proof: Evidence) -> Found:
    told = f"{line.label} {line.body.replace(command, ' ')}"
    ended = [one for one in found if one.run.failed is not None and not one.run.refused]
    if not ended:
        return
    last = ended[-1].run
    passed, failed = bool(_PASSED.search(told)), bool(_FAILED.search(told))
    if passed and not failed and ended[-1].alone and _has_failed(last):
        yield VERDICT, f"failed when it last ran: {command}"
    instead = _ECHO_INSTEAD.search(last.command)
    shown = _SHOWS_FAILURE.search(last.output) or (instead and instead[1] in last.output)
    if failed and not passed and not last.failed and not shown:
        yield VERDICT, f"passed when it last ran: {command}"
    if "not run since the edit" in told and last.at > max(proof.edited.values(), default=-1):
        yield VERDICT, f"run after the last edit: {command}"
    elif since := _SINCE.search(told):
        edited = any(at > last.at for at in proof.edited.values())
        if bool(since[1]) == edited:
            yield VERDICT, f"edited since: {edited}: {command}"


def _has_failed(run: CommandRun) -> bool:
    return bool(run.failed or _SURELY_FAILED.search(run.output))


# Tasks ---------------------------------------------------------------------------------------

_RIGHT_STATUS: dict[str, Callable[[str], bool]] = {
    S.OPEN_TASK: lambda status: status in ("pending", "in_progress"),
    S.DONE_TASK: lambda status: status == "completed",
    S.DROPPED_TASK: lambda status: status not in ("pending", "in_progress", "completed"),
}
_TASK_TRIM = re.compile(r"^(?:\[[^\]]*\]\s*|#[\w-]+:?\s+)+")
_TASK_NOTE = re.compile(r"\s+\((?:in progress|blocked|waits|pending|completed)[^()]*\)\s*$")
_MORE = re.compile(r"(?i)^and \d+ more$|\s+and \d+ more$")


def _tasks(line: Stated, proof: Evidence) -> Found:
    right = _RIGHT_STATUS[line.kind]
    for told in _listed(line, proof):
        known = [t for t in proof.tasks if starts_with_task(told, to_one_line(t.subject))]
        if not known:
            if not _said_by(told, [*proof.user, *proof.agent], plain=False):
                yield TASK, f"no such task: {told}"
        elif not any(right(t.status) for t in known):
            yield TASK, f"{known[-1].status}: {told}"


def _listed(line: Stated, proof: Evidence) -> list[str]:
    """One task, or several separated by semicolons, where no subject holds one."""
    whole = _trimmed(line.body)
    if any(starts_with_task(whole, to_one_line(t.subject)) for t in proof.tasks):
        return [whole]
    return [part for part in map(_trimmed, line.body.split(";")) if part]


def _trimmed(told: str) -> str:
    return _TASK_TRIM.sub("", _TASK_NOTE.sub("", _MORE.sub("", told.strip())))


def starts_with_task(told: str, text: str) -> bool:
    """Whether a task is told: whole, cut, or with something said of it behind."""
    told = to_one_line(told)
    head = _CUT.split(told)[0].rstrip()
    if not head or not text:
        return False
    rest = told.removeprefix(text) if told.startswith(text) else "?"
    return rest[:2] in ("", " (", ": ") or (head != told and text.startswith(head))


# Files ---------------------------------------------------------------------------------------

_PATH = re.compile(r"[\w.@~+()\[\]-]*(?:/[\w.@~+()\[\]-]+)+|[\w.@~+-]+\.[A-Za-z]\w{0,9}\b")


_TOLD_BY_GIT = re.compile(r"\bgit\b.*\b(?:status|diff|show|stash|rebase|merge|cherry-pick)\b", re.S)
_IN_FOLDER = re.compile(r"^in (\S+/): ")


def _files(line: Stated, proof: Evidence) -> Found:
    listed = line.body.split(": ")[0] if line.folder or not line.label else line.body
    folder = line.folder
    if line.label and (common := _IN_FOLDER.match(listed)):
        folder, listed = common[1], listed[common.end() :]
    for token in _PATH.findall(listed.split(" (")[0] if "," not in listed else listed):
        path = (folder.rstrip("/") + "/" + token) if folder else token
        if line.kind == S.EDITED:
            name = token.rsplit("/", 1)[-1]
            known = any(_ends(held, path) for held in proof.edited) or any(
                name in run.command
                or (_TOLD_BY_GIT.search(run.command) and _printed(path, run.output))
                for run in proof.runs
            )
        else:
            known = any(_ends(held, path) for held in proof.paths) or token in proof.everything
        if not known:
            yield FILE, path


def _printed(path: str, output: str) -> bool:
    """Whether a path stands in what git printed, from whatever folder it was run in."""
    parts = path.strip("/").split("/")
    ends = ["/".join(parts[n:]) for n in range(len(parts))]
    listed = re.compile(rf"(?m)^(?:[ MADRCU?]{{2}} |.*?: +|\s+){re.escape(ends[-1])}/?(?: \||$)")
    return bool(listed.search(output)) or any(
        re.search(rf"(?<![\w-]){re.escape(end)}(?![\w-])", output) for end in ends[:-1]
    )


def _ends(held: str, path: str) -> bool:
    path = path.removeprefix("~").removeprefix("./")
    return held == path or held.endswith("/" + path.lstrip("/"))


# Values: hashes, pull requests, ports, addresses, branches, the state of git ------------------

_HASHES = re.compile(r"(?i)\bcommits?\b[^.;\n]*?\b([0-9a-f]{7,40})\b")
_HEX = re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b")
_PR = re.compile(r"\b(?:PR|pull request)s? #?(\d+)\b")
_PORT = re.compile(r"(?i)\bports? (\d{2,5})\b")
_URL = re.compile(r"https?://[^\s\"'`<>()\[\]{}|”“…]+")
_BRANCH = re.compile(r"(?:\b[Bb]ranch: |\b[Oo]n branch |: branch |^branch )`?([\w./@-]+\w)`?")
_PUSHED = re.compile(r"(?i)\b(not|never|nothing|un)[ -]?(?:\w+ )?pushed\b|\bpushed\b")
_PUSHING = re.compile(r"\bgit\b[^\n;&|]*\bpush\b|\bgt (?:submit|ss)\b|\bgh pr create\b")
_NO_PR = re.compile(r"(?i)\bno (?:PR|pull request) (?:was|has been) created\b")
_TAKES_ALL = re.compile(r"\badd (?:-A|--all|-u|\.)|\bcommit\b[^\n]*? -\w*a")
_NOTHING_COMMITTED = re.compile(r"(?i)\b(?:nothing|not) (?:was |has been )?committed\b")


def _bare(line: Stated) -> str:
    """A line without what it quotes: quotations are checked as words."""
    text = f"{line.label}: {line.body}"
    for quoted in (*line.quotes, *line.commands):
        text = text.replace(quoted, " ")
    return text


def _values(line: Stated, proof: Evidence) -> Found:
    text = _bare(line)
    if re.search(r"(?i)\bcommit", text):
        # What follows a value's colon is where it was seen, not another value.
        for value in _HEX.findall(re.sub(r"(\bcommit [0-9a-f]+): .*", r"\1", text)):
            if not _is_commit(value, proof):
                yield ID, f"commit {value}"
    for number in _PR.findall(text):
        if not re.search(rf"(?i)(?:pulls?/|PRs? ?#?|pr \w+ |#){number}\b", proof.everything):
            yield ID, f"pull request {number}"
    for number in _PORT.findall(text):
        if not re.search(
            rf"(?i)ports?\W{{0,12}}{number}\b|:{number}\b|-p ?{number}", proof.everything
        ):
            yield ID, f"port {number}"
    for url in _URL.findall(text):
        cut = f"{url}…" in text or f"{url} …" in text  # and marked so
        if not ((cut and url in proof.everything) or _whole(url.rstrip(".,;:"), proof.everything)):
            yield ID, url
    for branch in _BRANCH.findall(text):
        if not _on_branch(branch, proof):
            yield BRANCH, branch
    if line.kind == S.VALUE:
        for entry in line.body.split("; ") if _HEX.search(text) else [text]:
            yield from _git(entry, proof)


def _is_commit(value: str, proof: Evidence) -> bool:
    if any(known.startswith(value) or value.startswith(known) for _, _, known in proof.commits):
        return True
    if re.search(rf"(?i)\bcommits?\b\W{{0,3}}(?:\w+\W+){{0,3}}{value}", proof.everything):
        return True
    word = re.compile(rf"\b{value}")
    return any(
        word.search(run.command) or word.search(run.output)
        for run in proof.runs
        if re.search(r"\b(?:git|gh)\b", run.command)
    )


def _whole(value: str, text: str) -> bool:
    at = text.find(value)
    while at >= 0:
        after = text[at + len(value) : at + len(value) + 2]
        if not re.match(r"[\w/%?=&#-]|\.\w", after):
            return True
        at = text.find(value, at + 1)
    return False


def _on_branch(branch: str, proof: Evidence) -> bool:
    if proof.branches and proof.branches[-1] == branch:
        return True
    switched = re.compile(rf"(?:checkout|switch)\s(?:[^;&|]*\s)?{re.escape(branch)}(?:\s|$|[;&|])")
    moved = [
        run for run in proof.runs if re.search(r"\bgit\b.*\b(?:checkout|switch)\b", run.command)
    ]
    if moved and switched.search(moved[-1].command):
        return True
    return bool(proof.commits) and proof.commits[-1][1] == branch


def _git(text: str, proof: Evidence) -> Found:
    named = {
        at
        for at, _, known in proof.commits
        for value in _HEX.findall(text)
        if known.startswith(value) or value.startswith(known)
    }
    last_commit = max(named) if named else proof.commits[-1][0] if proof.commits else -1
    pushes = [run.at for run in proof.runs if _PUSHING.search(run.command) and run.failed is False]
    if said := _PUSHED.search(text):
        pushed = bool(pushes) and pushes[-1] >= last_commit
        if said[1] and pushed and last_commit >= 0:
            yield GIT, "the last commit was pushed"
        if not said[1] and not (pushed if named else pushes):
            yield GIT, "it was not pushed"
    if _NOTHING_COMMITTED.search(text) and proof.commits:
        yield GIT, f"committed: {proof.commits[-1][2]}"
    if _NO_PR.search(text):
        made = [r for r in proof.runs if "gh pr create" in r.command and "/pull/" in r.output]
        if made:
            yield GIT, f"created: {to_one_line(made[-1].output)[-80:]}"


def _uncommitted(line: Stated, proof: Evidence) -> Found:
    """A file told as uncommitted was not taken into a commit after its last edit."""
    if "uncommitted" not in line.label.lower():
        return
    for token in _PATH.findall(line.body):
        edits = [at for path, at in proof.edited.items() if _ends(path, token)]
        if not edits:
            continue
        name = token.rsplit("/", 1)[-1]
        staging = [
            run
            for run in proof.runs
            if run.at > max(edits) and re.search(r"\bgit\b.*\b(?:add|commit)\b", run.command, re.S)
        ]
        clashed = [run.at for run in proof.runs if "CONFLICT" in run.output and token in run.output]
        if clashed and clashed[-1] > max((at for at, _, _ in proof.commits), default=-1):
            continue  # a merge brought it back into the work tree
        taken = any(_TAKES_ALL.search(run.command) or name in run.command for run in staging)
        if taken and any(at > max(edits) for at, _, _ in proof.commits):
            yield GIT, f"committed since: {token}"

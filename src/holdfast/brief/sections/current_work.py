"""Where the work stood: the last request, the agent's last words, rules, tasks, plan and notes."""

import re
from collections import Counter
from collections.abc import Iterator

from holdfast.brief.lines import (
    BEFORE_COMMAND,
    KEPT_PASTED_LINES,
    MIN_PIECE_CHARS,
    Line,
    SizeLimits,
    content_words,
    cut_pastes,
    find_output,
    is_pasted,
    shorten_path,
    shorten_paths,
    split_pieces,
)
from holdfast.brief.lines import format_command as shown
from holdfast.lazy_regex import lazy_compile
from holdfast.state.commands import Command
from holdfast.state.demand_sentences import (
    CHANGE,
    HOLD,
    MARKED,
    RULE,
    is_plain_request,
    subject_stems,
)
from holdfast.state.facts import CANCELLED, DONE, OPEN
from holdfast.state.git_printed import find_push, list_commits
from holdfast.state.identifiers import find_tickets
from holdfast.state.model import State, kind_name
from holdfast.state.next_step import NextStep
from holdfast.state.notes import Note, list_open_notes
from holdfast.state.plans import Plan
from holdfast.state.prose import split_sentences
from holdfast.state.replies import Reply
from holdfast.state.requests import Request, list_prompts
from holdfast.state.rules import MAX_SCANNED_CHARS, Demand, list_demands
from holdfast.state.task_summary import format_summary
from holdfast.state.tasks import KIND as TASK
from holdfast.state.tasks import Task
from holdfast.state.typed_words import blank_quoted, strip_quoted_text
from holdfast.text import (
    collapse_whitespace,
    pluralize,
    truncate_line,
    truncate_middle_words,
    truncate_words,
)

# Of the words of a plan's title, how many a commit's message has that did the plan.
PLAN_COMMIT_SHARE = 0.6
_BEFORE = lazy_compile(rf"^{BEFORE_COMMAND}")
WIDE_LINE = 150  # characters of a line where there is room for what is only described
# A prompt of fewer characters leans on what was said before it ("yes", "2", "go on").
MAX_ELLIPTIC_CHARS = 60
MAX_NOTED_CHARS = 40  # of an answer that says no more than that something was heard


# What a mode means for the work, by the client's word for it; others change nothing that matters.
_MODES = {
    "plan": "planning: the agent reads and plans, and changes no file before a plan is approved",
    "read-only": "read-only: the agent may look, and change no file",
    "acceptEdits": "edits are accepted without asking; other calls may be asked about",
    "dontAsk": "nothing is asked: what is not allowed beforehand is refused",
}


def mode(state: State, _: SizeLimits) -> Iterator[Line]:
    """What the client lets the agent do, where that is not the usual."""
    if (means := _MODES.get(state.session.mode)) is not None:
        yield Line(f"Mode of the client ({state.session.mode}): {means}.")


def request(state: State, size: SizeLimits) -> Iterator[Line]:
    """The last request whole, as far as there is room, and the words it answers."""
    typed = list_prompts(state.requests)
    if not typed:
        return
    last = typed[-1]
    text = truncate_middle_words(collapse_whitespace(cut_pastes(last.text)), size.request)
    whose = f"The last words of {last.about}" if last.how == "lead" else "The user's last request"
    yield Line(f'{whose} [{last.fact_id}]: "{text}"', last.fact_id)
    answered = _find_answered(state, last)
    if len(last.text) < MAX_ELLIPTIC_CHARS and last.how != "command" and answered is not None:
        said = _quote_closing(answered.text, size.request // 2)
        key = answered.fact_id
        if said:
            yield Line(f'Before that the agent had said [{key}]: "{said}"', key)


def _find_answered(state: State, request: Request) -> Reply | None:
    """What the agent had said last when the user typed this."""
    before = [reply for reply in list_replies(state) if reply.turn < request.turn]
    return before[-1] if before else None


def list_replies(state: State) -> list[Reply]:
    return [reply for reply in state.replies.values() if reply.by == "agent"]


def find_last_said(state: State) -> NextStep | None:
    """The agent's last words; where they only say "Noted." to an "ok", those that it was said to,
    as long as nothing was done since."""
    said = state.next_step.get("next")
    for request in reversed(list_prompts(state.requests)):
        if said is None or len(said.last_words) > MAX_NOTED_CHARS or "?" in said.last_words:
            break
        before = _find_answered(state, request)
        if subject_stems(request.text) or before is None or before.step < said.step:
            break
        said = NextStep(before.text, before.step, before.at)
    return said


def _quote_closing(text: str, limit: int) -> str:
    """The last sentences: a question or an offer stands at the end."""
    taken: list[str] = []
    used = 0
    if limit >= MIN_CODE_ROOM:
        text = _CODE.sub(_put_code_in_line, text)
    for piece in reversed(split_pieces(text)):
        if taken and used + len(piece) + 3 > limit:
            break
        taken.insert(0, truncate_words(piece, limit))
        used += len(piece) + 3
    return " … ".join(taken)


_CODE = lazy_compile(r"```([\w+-]*)\n(.*?)\n\s*```", re.S)
_SHELLS = frozenset(("", "sh", "bash", "shell", "zsh", "console"))
MAX_CODE_CHARS = 240
MIN_CODE_ROOM = 400  # characters of last words from which code is told with them


def _put_code_in_line(block: re.Match[str]) -> str:
    """What somebody is given to run, in a line, cut in the middle; other long code is left out."""
    code = collapse_whitespace(block[2])
    if len(code) > MAX_CODE_CHARS and block[1] not in _SHELLS:
        return ""
    return f"`{truncate_middle_words(code, MAX_CODE_CHARS)}`"


def find_document(state: State) -> tuple[str, Line]:
    """Named by the user with its status, as CR-096 (IN_EXECUTION), or in more than one message."""
    texts = [one.text for said in (state.requests, state.replies) for one in said.values()]
    for request in reversed(list_prompts(state.requests)):
        for name in find_tickets(request.text):
            times = sum(name in text for text in texts)
            if times > 1 or f"{name} (" in request.text:
                return name, Line(_sentence_with(name, request.text), request.fact_id)
    return "", Line("", "")


def find_item(state: State, document: str) -> Line | None:
    """What the agent last said of a numbered part of it: of the kind, no document's, that is named
    most."""
    said = [(reply, find_tickets(reply.text)) for reply in list_replies(state)]
    kinds = Counter(name.partition("-")[0] for _, names in said for name in names)
    del kinds[document.partition("-")[0]]
    kind = max(kinds, key=kinds.__getitem__, default="")
    for reply, names in reversed(said):
        for name in reversed(names):
            text = _sentence_with(name, reply.text)
            if name.partition("-")[0] == kind and not text.endswith("?"):
                return Line(text, reply.fact_id)
    return None


def _sentence_with(name: str, text: str) -> str:
    found = [sentence for sentence in split_sentences(text) if name in sentence]
    return truncate_line(found[-1] if found else text, 160)


def last_words(state: State, size: SizeLimits) -> Iterator[Line]:
    """What the agent said last, if it has spoken since the last request."""
    typed = list_prompts(state.requests)
    spoken = list_replies(state)
    if not spoken:
        return
    last = spoken[-1]
    if typed and last.turn < typed[-1].turn:
        return
    said = _quote_closing(last.text, size.last_words)
    if said:
        yield Line(f'The agent\'s last words [{last.fact_id}]: "{said}"', last.fact_id)


def last_done(state: State, size: SizeLimits) -> Iterator[Line]:
    """The last edit and how many calls ago it was, or the last command and how it came out, where
    neither a check's verdict nor git's own lines tell that."""
    command = max(state.commands.values(), key=lambda c: (c.step, c.number), default=None)
    changed = [file for file in state.files.values() if file.changed_step >= 0]
    file = max(changed, key=lambda f: f.changed_step, default=None)
    if file is not None and (command is None or file.changed_step > command.step):
        path = shorten_path(file.path, state.session.folders)
        since = state.position.step - file.changed_step
        ago = f", {pluralize(since, 'call')} before the end" if since > 0 else ""
        yield Line(f"Last edit{ago}: {path} [{file.fact_id}]", file.fact_id)
    elif command is not None and not command.check and not is_told_by_git(state, command):
        text = shorten_paths(shown(command.text, size.line + 40), state)
        outcome = {True: "ok", False: "failed", None: "(outcome not shown)"}[command.ok]
        printed = truncate_words(collapse_whitespace(command.outcome), 90)
        said = f": {printed}" if printed else ""
        asked = list_prompts(state.requests)
        when = ", before that request" if asked and asked[-1].step > command.step else ""
        told = f"Last run{when}: `{text}` {outcome}{said} [{command.fact_id}]"
        yield Line(told, command.fact_id)


def is_told_by_git(state: State, command: Command) -> bool:
    commits = list_commits(state.git_printed)
    told = command.ok is not False and _TOLD.match(command.text) is not None
    return told and bool(commits) and commits[-1].step <= command.step


_TOLD = lazy_compile(rf"{BEFORE_COMMAND}git (?:-[cC] \S+ )*(?:commit|push)\b")
# Commands that tell somebody else something: sent twice, they are read twice.
_TELLS = lazy_compile(
    r"(?:(?:gh|glab) (?:pr|mr|issue|release) (?:create|comment|note|review|edit|update|ready|merge"
    r"|close|reopen|upload)\b|gh workflow run\b|gh api\b(?! graphql\b(?!.*\bmutation\b))(?!.*(?:-X"
    r"|--method)[ =]?GET).*\s(?:-f|-F|--field|--raw-field|--input|(?:-X|--method)[ =]?(?:POST"
    r"|PATCH|PUT|DELETE))\b|(?:npm|pnpm|yarn|cargo|uv|poetry) publish\b|twine upload\b"
    r"|docker push\b)"
)
_LONG_NUMBER = lazy_compile(r"\d{5,}")
_ADDRESS = lazy_compile(r"https?://[^\s\"'<>]+")


def tells_outside(command: str) -> bool:
    return _TELLS.match(_BEFORE.sub("", command)) is not None


def outside(state: State, size: SizeLimits) -> Iterator[Line]:
    """Pull requests, comments, releases with the address that they got; those of one form share a
    line, each by its number."""
    if size.tight:
        return
    alike: dict[str, list[tuple[Command, str]]] = {}
    for command in state.commands.values():
        text = _BEFORE.sub("", command.text)
        if command.ok is not False and tells_outside(command.text):
            target = text.partition(" -")[0]
            form = _LONG_NUMBER.sub("…", target)
            alike.setdefault(text if form == target else form, []).append((command, text))
    for runs in sorted(alike.values(), key=lambda runs: -runs[-1][0].step):
        last, text = runs[-1]
        targets = [one.partition(" -")[0] for _, one in runs]
        numbers = dict.fromkeys(n for one in targets for n in _LONG_NUMBER.findall(one))
        if len(numbers) > 1:
            said = f"`{shown(targets[-1], size.line + 20)}`, likewise for: {', '.join(numbers)}"
        else:
            said = f"`{shown(shorten_paths(text, state), size.line + 20)}`"
            address = _ADDRESS.search(last.outcome)
            said += f" → {address[0]}" if address is not None else ""
        yield Line(f"- [{last.fact_id}] {said}", last.fact_id)


def holds(state: State, size: SizeLimits) -> Iterator[Line]:
    for one in list_demands(state.rules, HOLD)[: size.rules]:
        yield Line(f"- [{one.id}] {_quote_demand(state, one, size.rule)}", one.id)


def rules(state: State, size: SizeLimits) -> Iterator[Line]:
    plain = [one for one in list_demands(state.rules, RULE, MARKED) if not one.earlier]
    for one in plain[: size.rules]:
        yield Line(
            f'- [{one.id}] "{truncate_line(_quote_whole(state, one.rule.text), size.rule)}"', one.id
        )


def changed(state: State, size: SizeLimits) -> Iterator[Line]:
    """Words that touch an earlier demand, and beside them what they touch."""
    found = list_demands(state.rules, RULE, MARKED, CHANGE)
    for one in [one for one in found if one.earlier or one.rule.kind == CHANGE][: size.rules]:
        yield Line(f"- [{one.id}] {_quote_demand(state, one, size.rule)}", one.id)


def list_demand_lines(state: State, most: int, limit: int) -> Iterator[str]:
    """Holds, rules and what was said later about earlier ones, for a page: each with its words."""
    for one in list_demands(state.rules, HOLD)[:most]:
        yield f"On hold: {_quote_demand(state, one, limit)}"
    for one in list_demands(state.rules, RULE, MARKED, CHANGE)[:most]:
        text = truncate_line(_quote_whole(state, one.rule.text), limit)
        for _, rule in one.earlier:
            held = "Was on hold: " if rule.kind == HOLD else ""
            yield (
                f'{held}"{truncate_line(_quote_whole(state, rule.text), limit)}" (turn {rule.turn})'
                f' (said since, turn {one.rule.turn}: "{text}")'
            )
        if one.rule.kind != CHANGE or not one.earlier:
            yield f'"{text}"'


def _quote_demand(state: State, one: Demand, limit: int) -> str:
    said = f'"{truncate_line(_quote_whole(state, one.rule.text), limit)}" (turn {one.rule.turn}'
    beside = [("", *words) for words in one.earlier]
    beside += [("said since, ", *words) for words in reversed(one.since)]
    for when, key, rule in beside:
        text = truncate_line(_quote_whole(state, rule.text), limit)
        said += f'; {when}turn {rule.turn} [{key}]: "{text}"'
    return said + ")"


def _quote_whole(state: State, sentence: str) -> str:
    """A demand is read without the words that it quotes, and told with them."""
    if '""' in sentence:
        for request in reversed(state.requests.values()):
            for whole in split_sentences(request.text):
                if blank_quoted(whole) == sentence:
                    return whole
    return sentence


def typed(state: State, size: SizeLimits) -> Iterator[Line]:
    """What else the user typed, oldest first: whatever was not recognised as a demand is in it.

    What plainly asks for something or is a question gives way first: it was answered since.
    """
    last = next(reversed(list_prompts(state.requests)), None)
    others = {
        one.fact_id: f" ({one.about})"
        for one in state.requests.values()
        if one.how in ("lead", "peer")
    }
    room, kept = 2 * size.request, []
    for number, request, sentence in _latest_first(state, last.fact_id if last else ""):
        text = truncate_line(sentence, size.rule)
        room -= len(text) + len(request) + 6
        if room < 0:
            break
        kept.append((number, request, text))
    once = {text: (request, text) for _, request, text in sorted(kept, reverse=True)}
    for request, text in once.values():
        yield Line(f'- [{request}]{others.get(request, "")} "{text}"', request)


def _latest_first(state: State, without: str) -> Iterator[tuple[int, str, str]]:
    """The user's sentences, counted from the end, plain requests behind all others. Looked at one
    by one: there is room for a few of thousands."""
    told = "\n".join(_quote_whole(state, rule.text) for rule in state.rules.values())
    # Told with the question, as decided.
    answers = "\n".join(one.answer for one in state.decisions.values() if one.by == "user")
    plain = []
    own = (
        (request.fact_id, sentence)
        for request in reversed(state.requests.values())
        if request.fact_id != without
        for sentence in reversed(_own_sentences(request))
    )
    for number, (request, sentence) in enumerate(own):
        is_short = sentence.isascii() and len(sentence) < MIN_PIECE_CHARS
        if is_short or sentence in told or sentence in answers or not subject_stems(sentence):
            continue
        if is_plain_request(sentence):
            plain.append((number, request, sentence))
        else:
            yield number, request, sentence
    yield from plain


# "Keeping test repo at: /tmp/x" was printed somewhere, "/review" asks for nothing in words.
_PRINTED_VALUE = lazy_compile(r"[A-Z][\w' -]{3,40}: \S*[/\d]\S*$")
_BARE_COMMAND = lazy_compile(r"/[\w:-]+")


def _own_sentences(request: Request) -> list[str]:
    """What the user typed of a message, verbatim: nothing pasted, and no words with a gap in them
    where somebody else's stood."""
    text = request.text[:MAX_SCANNED_CHARS]
    found = split_sentences(strip_quoted_text(text))
    whole = {}
    if any('""' in sentence for sentence in found):
        whole = {blank_quoted(sentence): sentence for sentence in split_sentences(text)}
    own = (whole.get(sentence, sentence) for sentence in found)
    printed, typed = find_output(text), text
    if printed:  # what is typed stands before it or behind
        lines = [line for line in text.split("\n") if line.strip()]
        typed = "\n".join([*lines[:KEPT_PASTED_LINES], *lines[-KEPT_PASTED_LINES:]])
    return [
        one
        for one in own
        if one in typed
        and '""' not in one
        and not is_pasted(one, printed)
        and not _PRINTED_VALUE.match(one)
        and not (one == text.strip() and _BARE_COMMAND.fullmatch(one))
    ]


def finished(state: State, size: SizeLimits) -> Iterator[Line]:
    """What is done or was dropped, so that it is not taken up again."""
    done = [item for item in state.tasks.items() if item[1].status == DONE]
    if done and size.done_tasks:
        latest = sorted(done, key=lambda item: item[1].step)[-size.done_tasks :]
        subjects = "; ".join(_format_title(task) for _, task in reversed(latest))
        more = f" and {len(done) - len(latest)} more" if len(done) > len(latest) else ""
        yield Line(f"Done, not to be redone: {subjects}{more}", latest[-1][0])
    dropped = [item for item in state.tasks.items() if item[1].status == CANCELLED]
    if dropped and not size.tight:
        subjects = "; ".join(_format_title(task) for _, task in dropped[-4:])
        yield Line(f"Off the list, done otherwise or dropped: {subjects}", dropped[-1][0])


def _format_title(task: Task) -> str:
    return f"#{task.task} {truncate_line(task.subject, 60)}"


def tasks(state: State, size: SizeLimits) -> Iterator[Line]:
    still_open = [(key, task) for key, task in state.tasks.items() if task.status == OPEN]
    still_open.sort(key=lambda item: item[1].client_status != "in_progress")
    for key, task in still_open[: size.open_tasks]:
        known = {one: state.tasks.get(TASK.fact_id(one)) for one in task.blocked_by}
        blocking = [name for name, one in known.items() if one is not None and one.status == OPEN]
        more = truncate_line(task.description, size.line) if size.line >= WIDE_LINE else ""
        more = f": {more}" if more and more != task.subject else ""
        yield Line(f"- {describe_task(task, 'blocked by', blocking)}{more}", key)


def describe_task(task: Task, relation: str, others: list[str]) -> str:
    """Its subject with what is known of it: whose it is, what it waits for."""
    notes = ["in progress"] if task.client_status == "in_progress" else []
    if others:
        notes.append(f"{relation} " + ", ".join(f"#{one}" for one in others))
    if task.owner:
        notes.append(task.owner)
    note = f" ({'; '.join(notes)})" if notes else ""
    return f"#{task.task} {truncate_line(task.subject, 120)}{note}"


def plan(state: State, size: SizeLimits) -> Iterator[Line]:
    plans = [(key, plan) for key, plan in state.plans.items() if plan.status == OPEN]
    for key, plan in plans[-1:]:
        where = f" (file: {shorten_path(plan.path, state.session.folders)})" if plan.path else ""
        how, to_do = plan_status(state, plan)
        yield Line(f'{how}: "{truncate_line(plan.title, 90)}"{where}', key)
        if to_do and size.line >= WIDE_LINE and (asked := _find_verification(plan.text)):
            yield Line(f'How it is to be verified, in its words [{key}]: "{asked}"', key)


_HEADING = lazy_compile(r"(?m)^(?:(#{1,4})[ \t]+|\*\*)(.*)$")
_VERIFIES = lazy_compile(
    r"(?i)\b(?:verif\w*|acceptance|test plan|manual (?:test|check)\w*|success criteria"
    r"|definition of done|how to (?:test|check)|done when)\b"
)
MAX_VERIFICATION_CHARS = 600


def _find_verification(text: str) -> str:
    """What stands below the heading of a plan that says how it is checked."""
    headings = list(_HEADING.finditer(text))
    for place, heading in enumerate(headings):
        if _VERIFIES.search(heading[2]):
            level = len(heading[1] or "#####")
            ends = (one.start() for one in headings[place + 1 :] if len(one[1] or "#####") <= level)
            below = text[heading.end() : next(ends, len(text))]
            pieces = split_pieces(_CODE.sub(_put_code_in_line, below))
            said = " … ".join(pieces).removesuffix(":")
            if said:
                return truncate_words(said, MAX_VERIFICATION_CHARS)
    return ""


def plan_status(state: State, plan: Plan) -> tuple[str, bool]:
    """What became of a plan that was not refused, in words, and whether it is still to be done."""
    if plan.proposed:
        return "Plan proposed by the agent (no approval seen)", False
    wanted = content_words(plan.title.replace("`", " "))
    for commit, words in _pushed_since(state, plan.step):
        if wanted and len(wanted & content_words(words)) >= PLAN_COMMIT_SHARE * len(wanted):
            return f"Plan done, its commit {commit} is pushed", False
    return "Approved plan", True


def _pushed_since(state: State, step: int) -> Iterator[tuple[str, str]]:
    """Commits that were pushed, with their messages."""
    seen = state.git_seen
    if seen is not None and seen.upstream and seen.ahead == 0:
        yield from ((one.id, one.subject) for one in seen.commits)
    for line in list_commits(state.git_printed):
        if line.step >= step and find_push(state.git_printed, line) is not None:
            yield line.id, f"{line.text} {line.body}"


def running(state: State, _: SizeLimits) -> Iterator[Line]:
    beside = [s for s in state.subagents.values() if s.status == OPEN]
    for one in beside[-4:]:
        about = truncate_line(one.about, 90)
        # Until it reports, only the call that started it may be known.
        name = "" if one.agent.startswith("toolu_") else f" {one.agent}"
        yield Line(f"- {one.role or 'subagent'}{name}: {about}", one.fact_id)


def notes(state: State, size: SizeLimits) -> Iterator[Line]:
    """Latest first, the user's before the agent's."""
    found = list_open_notes(state)
    found.sort(key=lambda item: (item[1].by == "user", item[1].number))
    for key, note in reversed(found):
        yield Line(f"- {format_note(note, 60 if size.tight else 260)}", key)


def format_note(note: Note, limit: int) -> str:
    who = {"user": "the user", "agent": "the agent"}.get(note.by, "the notes file")
    when = f" {note.at.time[11:16]}" if len(note.at.time) >= 16 else ""
    label = "next" if note.kind == "next_step" else kind_name(note.kind)
    return f'{label}, by {who}{when}: "{truncate_line(note.text, limit)}"'


def summaries(state: State, size: SizeLimits) -> Iterator[Line]:
    """One line for each finished task that went cold, in the words in which it was kept."""
    for one in reversed(state.task_summaries.values()):
        told = format_summary(one, 140) if size.tight else format_summary(one)
        yield Line(f"- {told}", TASK.fact_id(one.task))

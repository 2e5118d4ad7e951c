"""Reads guards out of the user's sentences: what a tool call can be checked against.

A sentence is a guard only where it forbids something that a call shows: a path, a git command, a
program, a kind of file. What it forbids are the words behind a "don't", a "no", an "ask me before"
or the like, up to the end of the clause; each part of them is looked up in tables. What cannot be
checked stays a rule like any other. `fastpath.guards` matches calls against what is found.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache

from holdfast.fastpath.guards import WRAPPERS, Guard, strip_wrappers
from holdfast.lazy_regex import lazy_compile
from holdfast.state.guard_tables import (
    ACTION_TABLE,
    ALSO_TALK,
    ALSO_WORDS,
    DEMANDS,
    EDITING,
    FILE_KINDS,
    NAMED_FILES,
    PROGRAMS,
    PROTECTED,
    RIVALS,
    SAME_PROGRAM,
    SCOPES,
    SHORT_OPTIONS,
    TESTS,
    WORDS_OF_TABLE,
)
from holdfast.state.prose import lower_ascii_apostrophes


@cache
def _list_actions() -> list[tuple[re.Pattern[str], str, str]]:
    table, found = ACTION_TABLE, []
    for name, words in WORDS_OF_TABLE.items():
        table = table.replace(name, words)
    for row in re.split(r"\n(?! )", table.strip()):
        words, rest = re.split(r"  =>  |\n", row, maxsplit=1)
        kind, *what = rest.split()
        found.append((lazy_compile(f"(?:git )?(?:{words})"), kind, " ".join(what)))
    return found


_DEMANDS = tuple((lazy_compile(words), kind, what) for words, kind, what in DEMANDS)

_FIRST = (
    r"(?:^|[,;:.(–—-]\s*|\b(?:and|but|so|also|then|please|just|ever|again|or|ok|okay|well|here)\s+)"
)
# Behind these words stands what is forbidden. "It can't" and "there is no" only tell.
_FORBIDS = lazy_compile(
    rf"{_FIRST}(?:you (?:are|'re) )?(?:(?:do not|don't|dont)(?: you)?(?: ever| dare)*|never|avoid"
    rf"|stop|refrain from|cannot|can't|no|zero|not"
    r"|nothing(?: (?:gets|is|(?:may|must|should|will) be))?|hold(?: off)?(?: on| from)?|wait with"
    r"|under no circumstances)\s+|(?<!if )\b(?:you|we|nobody|agents?)\s+(?:really "
    r"|just )?(?:do not|don't|dont|never|cannot|can't|can not)\s+|\bfree of (?:any )?|\b(?:hands"
    r"|fingers) off (?:of )?(?:my |the )*|\b(?:must not|mustn't|should not|shouldn't|may not"
    r"|shall not|not to|not allowed to|not supposed to|forbidden to|without|instead of|rather than"
    r"|and not|but not|rather you didn't)\s+|(?<!\bi )(?<!\bit )(?<!they )(?<!that )(?<!which"
    r" )(?<!tests )(?<!has )(?<!have )\bnever\s+|\bi (?:do not|don't|never) want\s+(?:(?:you"
    r"|anyone|anything) to\s+)?|\buse [^,;]+ not\s+|\b(?:want|write|use|add|create|with|should be"
    r"|must be) (?:no|zero)\s+|\b(?:ask|wait|tell me|show me|check (?:with me|back)|talk to me"
    r"|confirm|explain|discuss|run (?:it|this|that|everything) by|(?:my|me) (?:ok|okay|approval"
    r"|permission|go|consent|sign-off))\b[^.;]*?\bbefore (?:you |any |doing |making )*"
    r"|\bleave (?:all |the |any )*(?=\w+ing\b.* to me\b)|\bonly\s+(?=\w+ (?:when|if|after"
    r"|once) (?:i|we)\b)|\bi(?:'ll| will| do| want to| handle)\s+(?=[^.;]*\b(?:myself|you don't"
    r"|not you)\b)(?:do |handle )?(?:all |the |any )*|^before (?:you |any |doing "
    r"|making )*(?=[^.;]*, (?:please )?(?:ask|show|tell|wait|confirm|discuss|explain|check with"
    r"|talk to|get my)\b)",
)
# And before these.
_IS_FORBIDDEN = lazy_compile(
    r"(?:^|[,;:]\s)(?:all |any |the )*([^,;:]{3,60}?) (?:(?:is|are) (?:strictly "
    r"|absolutely )?(?:forbidden|prohibited|banned|(?:run|made) by (?!you)|not allowed"
    r"|off[- ]limits|out of bounds|not permitted|taboo|my job)|(?:must|should|may|shall)(?: not"
    r"|n't) be (?:run|made|used|started|created|executed|done)|(?:needs?|requires?) my"
    r"|only (?:when|if|after|once|with) (?:i|my)\b)"
)
_ENDS = lazy_compile(
    r"[;?]|[.!](?=\s|$)|,\s|:\s|\s[–—-]\s|\s(?:because|since|so that|which|as long as|until|unless"
    r"|when|if)\s"
)
_PARTS = lazy_compile(r"\s+(?:or|and|nor)\s+|\s*,\s*")
# What is not done is spoken of, or done all the same: "don't forget to commit".
_ATTITUDE = lazy_compile(
    r"(?:like|know|think|mind|see|care|worr|believe|remember|get|is|are|was|have|need|forget"
    r"|hesitat|fail|bother|understand|only|just|wait|one|problem|matter|longer|sure|certain|clear"
    r"|necessar|so|too|bad|stop)\b"
)
_OPTIONAL = ("needed", "required", "necessary")
_FILLERS = lazy_compile(
    r"(?:(?:ever|please|yet|any|an?|the|this|all|whole|full|new|more|other|further|extra"
    r"|additional|external|outside|third[- ]party|make|making|mak|do|doing|perform|create|creating"
    r"|creat|try to|attempt to|start to|directly|automatically|even|also|again|with|using|plain"
    r"|bare|raw|anything|my|our|your|local|shell|by running|database|db|dev|use|run|running|call"
    r"|calling|execute|executing|invoke|invoking|apply|applying|own|single|on your own|add|adding"
    r"|leave|leaving|put|write|writing|includ\w+|introduc\w+|insert|import|importing|require)\s+)*"
)
_SAYS_RUN = lazy_compile(
    r"\b(?:use|using|run|running|call|calling|execut\w+|invok\w+|plain|bare|not|over|of|than)\b|`"
)

_CODE = lazy_compile(
    r"(?:(?:us|add|leav|put|writ|introduc|hav|includ|insert|call|import|any|a|an|the|in|new|more"
    r"|plain|bare|raw|direct)(?:e|es|ing)? )*(?:`([^`]*[^`\s][^`]*)`|([A-Za-z_]\w*(?:\.\w+)*\(\)"
    r"|(?:console|System|window|document|process|Thread|time|Math|os|fmt)\.[\w.]+|@ts-\w+"
    r"|!important))"
)
_SCOPE = lazy_compile(r"\bin (?:the |our |my |any |new )*([\w+]+)(?: code| files?| components?)?$")
_LIBRARIES = lazy_compile(WORDS_OF_TABLE["LIBRARIES"])
_BRANCH = lazy_compile(r"\b(?:to|on|onto|into)\s+(?:the\s+)?`?([\w./-]+)`?")

_BY_TOOL = lazy_compile(r"\b(?:with|using|via|like|such as) `?([\w-]+)", re.I)
_USE_THIS = lazy_compile(
    r"\b(?:use|run|with|through|via|stick (?:to|with)|package manager(?: is|:)|prefer|only"
    r"|nothing but)\s+(?:only\s+|an?\s+)?`?([\w.+-]+)`?|(?:^|[,;:] )`?([\w.+-]+)`? (?:only\b|(?:is"
    r"|stays) (?:our|the|my) (?:package|only))"
)
_PHRASE_ENDS = frozenset(
    "of new on for in to at here again yet anymore directly without with ever commands command"
    " into onto any please this that anything by from process processes"
    " against locally globally the any a an manually everywhere around as when if is it".split()
)

_REMOVES = lazy_compile(
    r"(?:delet|remov|wip)(?:e|es|ing|ed)? (?:the |any |my |our |old |existing |of )*([\w-]{4,})$"
)
_HOST = lazy_compile(r"\b(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|cloud|internal)\b")
_PATH = lazy_compile(
    r"`([^`\s]+)`|(?<![\w@:/.-])((?:\.{0,2}/)?(?:[\w.*-]+/)+[\w.*-]*|\.(?:github|gitlab|vscode"
    r"|idea|husky|circleci)\b|/(?:etc|usr|var|opt|home|root|srv)\b|\.?(?:[\w*-]+\.)+[a-z]\w{0,9}"
    r"|\.env\w*|(?:Make|Docker|Just|Gem|Proc)file\b)",
    re.I,
)
_NAMED_FOLDER = lazy_compile(
    r"\bthe ([\w.-]+) (?:folder|directory|dir|package|module)\b|\b(?:anything|nothing|files?|stuff"
    r"|things|changes|edits) (?:in|inside|under|below) `?([\w-]+)`?(?=$|[.,;!])|\b(?:carpeta"
    r"|dossier|ordner|verzeichnis|cartella|pasta|папк[аеиу]|katalog\w*) `?([\w-]+)|\b(?:touch|edit"
    r"|chang|modify|alter)\w* (?:anything in )?`?(node_modules|vendor|dist|build"
    r"|docs|legacy|fixtures|third_party|generated|infra|public|assets)`?(?=$|[.,;!])",
    re.I,
)
_ENDING = lazy_compile(
    r"\b(?:end(?:s|ing)? (?:in|with|on)|extension) `?(\.[\w.]*\w)|(?:^|\s)`?(\.\w+\.\w+)"
)
_ADDRESS = lazy_compile(r"://|^www\.|^\d+(?:\.\d+)+$|\.(?:com|org|io|net)$")
_NO_PATHS = frozenset(("e.g", "i.e", "node.js", "next.js", "vue.js", "etc.", "and/or"))
_LEFT = lazy_compile(
    rf"(?:\w+ ){{0,2}}?{EDITING}|(?:changes|edits|changing|code changes) (?:to|in|under|below"
    rf"|at)\b|write (?:to|in)\b",
)
_LEFT_AS_IT_IS = lazy_compile(
    r"\b(?:leave|keep)\b.*\b(?:alone|untouched|unchanged|as (?:it|they) (?:is|are|was|were)"
    r"|as[- ]is|your hands off|the same)\b|\b(?:is|are) (?:off[- ]limits|read[- ]only|frozen"
    r"|not yours|taboo)\b|n't yours\b|\bhands off\b|\bleave (?:it|them)[.!]?$|\bstays? (?:as (?:it"
    r"|they) (?:is|are)|unchanged|untouched)\b"
    rf"|\b(?:(?:is|are) not to|must not|mustn't|may not|should not|shouldn't|(?:should|must|is to"
    rf"|are to) never|can't|cannot) be {EDITING}",
)
_STAY_OUT = lazy_compile(r"\b(?:stay|keep) (?:out of|away from|off)\b")
_STAY_OUT_OF_SERVERS = lazy_compile(
    r"\b(?:(?:stay|keep)(?: \w+)? (?:out of|away from|off)|hands off|(?:never|don't"
    r"|do not) (?:touch|access|connect to|log ?in ?to|run anything (?:on|against"
    r"|in)))(?: of)? (?:the |our |any )*(prod(?:uction)?|live|staging)(?: (?:servers?|systems?"
    r"|environment|env|cluster|database|db|site))?(?=$|[.,;!]| (?:please|for|until|at|ever))"
)
_ONLY_THERE = lazy_compile(
    rf"\b(?:(?:only|exclusively|just) (?:ever |allowed to )?(?:{EDITING}|work|make changes"
    rf"|be {EDITING})|(?:{EDITING}|changes?|edits?|work)[^.]*\b(?:only|exclusively)\b"
    r"|(?:restrict|limit|confine)\b[^.]*\bto|(?:stay|remain|keep (?:all |your |the )*(?:changes"
    r"|edits|work))\s+(?:\w+ )?(?:in|inside|within|below|under|to)"
    rf"|(?:nothing|not|anything|any files?|files?) (?:outside|except|other than|apart from|but)"
    rf"|{EDITING} nothing but)\b",
)
_ONLY_TESTS = lazy_compile(r"\bonly (?:\w+ ){0,3}tests?\b(?! \w+ing)")
_NO_EDITS = lazy_compile(
    r"(?!delet|remov|renam|mov|add )"
    rf"(?:{EDITING}(?:$|\s+(?:anything|any (?:files?|code|of the code)|files|code|the code))"
    rf"|(?:make )?(?:any |code |more )*(?:changes|edits)(?: yet| before| for now| to (?:the"
    rf"|any) code|$)|edit yet)"
    r"(?!\s+(?:in|under|below|outside|of|that|which|about|except|other|but))|code changes?$",
)
_READ_ONLY = lazy_compile(r"\bread[- ]only (?:mode|session|task|review|investigation)\b")

_FILES = lazy_compile(
    r"((?:write|writing|create|creating|add|adding|make|making|use|using|put|have|generate"
    r"|generating|leave)\s+)?((?:any|new|more|an?|further|extra|jupyter|plain)\s+)*"
    rf"({'|'.join(map(re.escape, sorted(FILE_KINDS, key=len, reverse=True)))}"
    rf"|\.[a-z]\w{{0,5}})(?!\w| (?:dependenc|packages?|librar|libs?\b|deps\b|modules?\b))"
    r"(?:\s+(files?|scripts?|code|docs?|configs?|notebooks?|modules?|at all|here|anywhere|for"
    r"|please|in (?:this|the|our|my))\b|\s*$)?",
)
_IN_LANGUAGE = lazy_compile(r"(?:write|writing|create|add|make)\b.* in (\w+)$")
# In other languages what is forbidden is known by the words they share with English: paths,
# programs, and the verbs of git.
_FORBIDS_ELSEWHERE = lazy_compile(
    r"\b(?:nichts?|keine?[nr]?|nie|niemals|niets?|geen|nooit|pas|jamais|aucune?|nunca|n[aã]o|jamás"
    r"|no (?:hagas|toques|uses|edites|modifiques|cambies|borres|ejecutes|instales|subas)|non|mai"
    r"|nigdy|не|ни|никогда|нельзя|asla|sakın)\b|\b(?:etme|yapma|dokunma|kullanma|değiştirme"
    r"|çalıştırma)(?:yin|yın)?\b|不要|不能|不得|不可|请勿|禁止|别|ないで|しない|するな|禁じ"
    r"|하지 ?마|지 ?마|금지|لا ",
    re.I,
)
_ONLY_ELSEWHERE = lazy_compile(
    r"\b(?:nur|ausschließlich|alleen|seulement|uniquement|solo|sólo|solamente|somente|apenas"
    r"|fuera de|en dehors de|hors de|fora de|fuori da|soltanto|tylko|только|sadece|yalnızca"
    r"|außer(?:halb)?|sauf|salvo|excepto|tranne|behalve|buiten|oprócz|poza|кроме|dışında)\b|只|仅|除了"
    r"|以外|だけ|のみ|만 |제외|외에|فقط",
    re.I,
)
_EDITS_ELSEWHERE = lazy_compile(
    r"[äa]nder|bearbeit|fass|anr[uü]hr|l[oö]sch|touch|modifi|chang|[ée]dit|toqu|tocca|borr|cambi"
    r"|alter|mex[ae]|wijzig|bewerk|aanpass|zmien|edyt|dotyk|rusz|трога|измен|меня|редактир|dokun"
    r"|de[gğ]i[sş]tir|d[uü]zenle|改|动|碰|编辑|変更|編集|触|いじ|수정|변경|건드|편집|تعدل|تغير"
    r"|تلمس",
    re.I,
)
_SHARED_VERBS = lazy_compile(
    r"(?<![A-Za-z0-9_/.`-])(commit|push|merge|rebase|stash|deploy|amend)(?!\w* [`\w-]+/)", re.I
)
_SHARED_PROGRAMS = lazy_compile(
    rf"(?<![A-Za-z0-9_/.`-])(?:{'|'.join(sorted(PROGRAMS - ALSO_WORDS, key=len, reverse=True))})"
    r"(?![A-Za-z0-9_/-]|\.\w)(?: (?:install|add|run|apply|destroy|up|down|build|test|push)\b)?"
)
_LIBRARIES_ELSEWHERE = lazy_compile(
    r"abh[äa]ngigkeit|d[ée]pend[ea]nc[ei]|dipendenz|afhankelijkhe|zale[żz]no|зависимост|依赖|依存|의존"
    r"|ba[ğg][ıi]ml[ıi]l[ıi]k",
    re.I,
)
_NAMED_BRANCH = lazy_compile(rf"\b(?:{'|'.join(sorted(PROTECTED))})\b")


def _read_elsewhere(clause: str) -> Iterator[tuple[str, str]]:
    """Of a rule whose language is not English."""
    paths = ""
    if _EDITS_ELSEWHERE.search(clause):
        tests = TESTS if re.search(r"\b[Tt]ests?\b", clause) else ""
        paths = " ".join(find_paths(clause)) or tests
    if paths and _ONLY_ELSEWHERE.search(clause):
        yield "only", paths
    elif _FORBIDS_ELSEWHERE.search(clause):
        if paths:
            yield "leave", paths
            return
        if _LIBRARIES_ELSEWHERE.search(clause):
            yield "run", WORDS_OF_TABLE["INSTALLS"]
        branch = _NAMED_BRANCH.search(clause)
        for verb in _SHARED_VERBS.findall(clause):
            yield from _read_part(f"{verb} to {branch[0]}" if branch else verb)
        for command in _SHARED_PROGRAMS.findall(clause):
            yield from _read_part(f"`{command}`")


def read_guards(rules: Iterable[tuple[str, str]]) -> list[Guard]:
    """Of rules in force, given as (id, sentence)."""
    return [
        Guard(kind, what, name, " ".join(sentence.split()))
        for name, sentence in rules
        for kind, what in dict.fromkeys(find_forbidden(sentence))
    ]


def find_forbidden(sentence: str) -> Iterator[tuple[str, str]]:
    """Kind and words of each guard that a sentence gives: see `fastpath.guards`."""
    flat = " ".join(sentence.split())
    heard = lower_ascii_apostrophes(flat)
    parts = list(_list_forbidden_parts(flat, heard))
    yield from _read_places(flat, heard, parts)
    found = [guard for part in parts for guard in _read_part(part)]
    yield from found
    if not found:
        for clause in re.split(r"[,;:，；：。]\s*", flat):
            yield from _read_elsewhere(clause)
    for pattern, kind, what in _DEMANDS:
        if pattern.search(heard):
            yield kind, what
    wanted = {(one or other).rstrip(".") for one, other in _USE_THIS.findall(heard)}
    for family in RIVALS[:-1]:
        if wanted.intersection(family) and not any(kind == "run" for kind, _ in found):
            others = (SAME_PROGRAM.get(one, one) for one in family if one not in wanted)
            yield "run", " ".join(others)


def _list_forbidden_parts(flat: str, heard: str) -> Iterator[str]:
    """As they are written: an option may be a capital letter."""
    found = list(_FORBIDS.finditer(heard))
    spans = [one.span(1) for one in _IS_FORBIDDEN.finditer(heard)]
    for place, cue in enumerate(found):
        end = found[place + 1].start() if place + 1 < len(found) else len(heard)
        ends = _ENDS.search(heard, cue.end(), max(end, cue.end()))
        spans.append((cue.end(), ends.start() if ends else max(end, cue.end())))
    for start, end in spans:
        if not _ATTITUDE.match(heard, start):
            parts = (part.lstrip().rstrip(" .)!") for part in _PARTS.split(flat[start:end]))
            yield from (part for part in parts if part and not part.endswith(_OPTIONAL))


def _read_part(written: str) -> Iterator[tuple[str, str]]:
    """Of one thing that is forbidden: a command by its own words, an option, a kind of file, or an
    action by its name.
    """
    part = written.lower()
    if kind := _read_file_kind(part):
        yield "endings", kind
        return
    if glob := re.match(r"`?\*(\.[\w.]+)", part):
        yield "endings", glob[1]
        return
    if text := _read_code(written):
        yield "writes", _narrow_to_files(text, part)
        return
    command = _read_command(written)
    if command in WRAPPERS:
        yield "inside", f"{command}+"
        return
    if command and not (command.startswith("git+") and "~" not in command):
        yield "run", command
        return
    option = re.search(r"(?:^|[\s`])(--[a-z][\w-]+)", part)
    if option:
        yield "inside", f"+{option[1]}"
        if option[1] in SHORT_OPTIONS:
            yield "run", SHORT_OPTIONS[option[1]]
        return
    fillers = _FILLERS.match(part)
    rest = part[fillers.end() if fillers else 0 :]
    by = part.partition(" with ")[2].removeprefix("a ")
    for pattern, kind, what in _list_actions():
        for words in (part, rest, by):
            if found := pattern.match(words):
                if "NAME" in what:
                    what = what.replace("NAME", found["name"])
                if kind == "writes":
                    what = _narrow_to_files(what, part)
                yield kind, _narrow_to_branch(what, words)
                if what == WORDS_OF_TABLE["INSTALLS"]:
                    yield "adds", "*"
                return
    if command:
        yield "run", command
    elif named := _REMOVES.match(part):
        yield "run", f"rm+~/{named[1]} git+rm+~/{named[1]} rmdir+~/{named[1]}"
    elif host := _HOST.search(part):
        yield "does", host[0]


def _read_code(part: str) -> str:
    """What is not to be written: code in quotes, or with the signs of code in it."""
    found = _CODE.match(part)
    code = (found[1] or found[2]) if found else ""
    if not found or not code or code.split()[0] in PROGRAMS or code[0] == "-":
        return ""
    if found[1] and _PATH.fullmatch(code) and not code.startswith("console."):
        return ""
    return code.removesuffix(")").replace(" ", "+")


def _narrow_to_files(texts: str, part: str) -> str:
    """Of a word that is also English, the ways it stands in code; and only in files of a kind."""
    scope = None if texts.startswith("in:") else _SCOPE.search(part)
    endings = SCOPES.get(scope[1], "") if scope else ""
    if texts == "any":
        texts, endings = ":+any as+any <any any[]", endings or FILE_KINDS["typescript"]
    elif texts == "#":
        endings = endings or SCOPES["code"]
    return f"in:{endings.replace(' ', ',')} {texts}" if endings else texts


def _read_file_kind(part: str) -> str:
    files = _FILES.match(part)
    if files and (files[4] or files.end() == len(part)):
        kind = files[3]
        if kind not in ALSO_TALK or files[4] or files[1]:
            return FILE_KINDS.get(kind, kind)
    language = _IN_LANGUAGE.match(part)
    return FILE_KINDS.get(language[1], "") if language else ""


def _narrow_to_branch(what: str, words: str) -> str:
    branch = _BRANCH.search(words) if what == "git+push" else None
    name = branch[1].rstrip(".") if branch else ""
    return f"git+push+~{name}" if name in PROTECTED else what


def _read_command(part: str) -> str:
    quoted = re.search(r"`([^`]*[^`\s][^`]*)`", part)
    if quoted:
        words = quoted[1].split()
        return _join_command(words) if words[0] in PROGRAMS or len(words) > 1 else ""
    aside = re.search(r"\(([^()]+)\)?$", part)
    if aside and (command := _read_command(aside[1])):
        return command
    fillers = _FILLERS.match(part.lower())
    start = fillers.end() if fillers else 0
    named = _BY_TOOL.search(part)
    if named and named[1] in PROGRAMS:
        start = named.start(1)
    words = part[start:].rstrip(".").split()
    if not words or words[0] not in PROGRAMS or _LIBRARIES.match(" ".join(words[1:2])):
        return ""
    alone = len(words) == 1 and words[0] in ("make", "node", "perl", "black")
    if words[0] in ALSO_WORDS and not alone and not _SAYS_RUN.search(part[:start]):
        return ""
    kept = words[:1]
    for word in words[1:4]:
        if word in _PHRASE_ENDS or not re.fullmatch(r"-{0,2}[\w:./-]+", word):
            break
        kept.append(word)
    if len(kept) == 1 and kept[0] in ("git", "rm", "mv", "find"):
        return ""
    return _join_command(kept)


def _join_command(words: list[str]) -> str:
    """Its options may stand anywhere behind it."""
    words = strip_wrappers(words) or words
    rest = [f"~{word}" if word.startswith("-") else word for word in words[1:]]
    programs = SAME_PROGRAM.get(words[0], words[0]).split()
    return " ".join("+".join((program, *rest)) for program in programs)


def _read_places(flat: str, heard: str, parts: list[str]) -> Iterator[tuple[str, str]]:
    paths = find_paths(flat)
    if not paths and _ONLY_TESTS.search(heard):
        paths = TESTS.split()
    only = paths and _ONLY_THERE.search(heard)
    if not paths and (place := _STAY_OUT_OF_SERVERS.search(heard)):
        yield "names", "prod production live" if place[1][:4] in ("prod", "live") else place[1]
    if not paths and (any(_NO_EDITS.match(part) for part in parts) or _READ_ONLY.search(heard)):
        yield "edits", "*"
    elif only:
        yield "only", " ".join(paths)
    elif paths and (
        any(_LEFT.match(part) for part in parts)
        or _LEFT_AS_IT_IS.search(heard)
        or _STAY_OUT.search(heard)
    ):
        yield "leave", " ".join(paths)


def find_paths(flat: str) -> list[str]:
    quoted = [one or other for one, other in _PATH.findall(flat)]
    folders = ["".join(one) for one in _NAMED_FOLDER.findall(flat)]
    named = [f"{folder}/" for folder in folders if folder not in ("same", "whole", "place")]
    heard = flat.lower().replace("lock file", "lockfile")
    known = [path for name, paths in NAMED_FILES.items() if name in heard for path in paths.split()]
    if ".env" in quoted and ".env files" in heard:
        known.append(".env.*")
    known += [f"*{one or other}" for one, other in _ENDING.findall(heard)]
    found = [path.rstrip(".,;:") for path in (*quoted, *named, *known)]
    return [
        path
        for path in dict.fromkeys(found)
        if ("/" in path or "." in path or path.endswith("file") or path in known)
        and path.lower() not in _NO_PATHS
        and not _ADDRESS.search(path)
    ]

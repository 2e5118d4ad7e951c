"""For any JSON in any layout: in and out is the same bytes, and the rest keeps its meaning."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.install.claude_code import HOOKS
from holdfast.install.hook_edit import remove_hooks
from holdfast.install.hook_entries import is_holdfast_hook
from install.settings_home import EVENTS, LAUNCHER, Place, add_hooks, our_entry

pytestmark = pytest.mark.slow

SPACE = st.text(alphabet=" \t\r\n", max_size=3)
NUMBERS = st.sampled_from(["0", "-0", "1.0", "1e400", "12345678901234567890", "-2.5E-3"])


@st.composite
def written(draw: st.DrawFn, value: Any) -> str:
    """``value`` as JSON text with white space thrown in wherever the grammar allows it."""
    if isinstance(value, dict):
        pieces = [
            f"{draw(SPACE)}{json.dumps(key, ensure_ascii=draw(st.booleans()))}{draw(SPACE)}:"
            f"{draw(SPACE)}{draw(written(item))}{draw(SPACE)}"
            for key, item in value.items()
        ]
        return "{" + (",".join(pieces) or draw(SPACE)) + "}"
    if isinstance(value, list):
        items = [f"{draw(SPACE)}{draw(written(item))}{draw(SPACE)}" for item in value]
        return "[" + (",".join(items) or draw(SPACE)) + "]"
    if isinstance(value, float):
        return draw(NUMBERS)
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


WORDS = st.text(st.characters(codec="utf-8"), max_size=6)
SCALARS = st.one_of(st.none(), st.booleans(), st.just(0.5), WORDS)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=3)),
    max_leaves=6,
)
ENTRIES = st.one_of(
    st.fixed_dictionaries({"type": st.just("command"), "command": WORDS}),
    st.sampled_from(EVENTS).map(lambda event: our_entry(event, "/old/holdfast-hook")),
    ANYTHING,
)
GROUPS = st.one_of(
    st.fixed_dictionaries(
        {"hooks": st.lists(ENTRIES, max_size=3)},
        optional={"matcher": st.sampled_from(["", "*", "Bash", "compact"]), "about": WORDS},
    ),
    ANYTHING,
)
EVENT_MAPS = st.dictionaries(
    st.one_of(st.sampled_from(EVENTS), st.just("PreToolUse"), WORDS),
    st.lists(GROUPS, max_size=3),
    max_size=4,
)


def _has_ours(document: dict[str, Any]) -> bool:
    return any(
        isinstance(entry, dict) and is_holdfast_hook(entry)
        for groups in document.get("hooks", {}).values()
        for group in groups
        if isinstance(group, dict) and isinstance(group.get("hooks"), list)
        for entry in group["hooks"]
    )


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    members = draw(st.dictionaries(WORDS.filter(lambda w: w != "hooks"), ANYTHING, max_size=3))
    if draw(st.booleans()):
        members["hooks"] = draw(EVENT_MAPS)
    keys = draw(st.permutations(list(members)))
    return {key: members[key] for key in keys}


@st.composite
def files(draw: st.DrawFn) -> str:
    document = draw(documents())
    layouts = (
        written(document),
        st.sampled_from([None, 1, 2, 4, "\t"]).map(lambda step: json.dumps(document, indent=step)),
        st.just(json.dumps(document, indent=2, ensure_ascii=False).replace("\n", "\r\n")),
        st.just(json.dumps(document, separators=(",", ":"))),
    )
    return draw(SPACE) + draw(st.one_of(*layouts)) + draw(SPACE)


def _without_ours(document: dict[str, Any]) -> dict[str, Any]:
    """The document with our entries gone and emptied containers gone, written plainly."""
    rest = {key: value for key, value in document.items() if key != "hooks"}
    events = {}
    for event, groups in document.get("hooks", {}).items():
        left = []
        for group in groups:
            if isinstance(group, dict) and isinstance(group.get("hooks"), list):
                kept = [
                    e for e in group["hooks"] if not (isinstance(e, dict) and is_holdfast_hook(e))
                ]
                if kept or kept == group["hooks"] or set(group) - {"hooks", "matcher"}:
                    left.append(group | {"hooks": kept})
            else:
                left.append(group)
        if left:
            events[event] = left
    return rest | ({"hooks": events} if events else {})


@given(text=files())
@settings(max_examples=300, deadline=None)
def test_the_rest_of_the_document_keeps_its_meaning(text: str) -> None:
    edit = add_hooks(text, LAUNCHER)
    before, after = json.loads(text), json.loads(edit.text)
    assert repr(_without_ours(after)) == repr(_without_ours(before))
    assert [key for key in after if key in before] == [k for k in before if k in after]
    for spec in HOOKS:
        ours = [
            entry
            for group in after["hooks"][spec.event]
            if isinstance(group, dict) and isinstance(group.get("hooks"), list)
            for entry in group["hooks"]
            if isinstance(entry, dict) and is_holdfast_hook(entry)
        ]
        assert [entry["args"][-1] for entry in ours] == [spec.event]


@given(text=files())
@settings(max_examples=300, deadline=None)
def test_twice_is_once(text: str) -> None:
    once = add_hooks(text, LAUNCHER).text
    assert add_hooks(once, LAUNCHER).text == once


@given(text=files().filter(lambda text: not _has_ours(json.loads(text))))
@settings(max_examples=300, deadline=None)
def test_in_and_out_is_the_same_text_even_when_the_edit_is_undone_entry_by_entry(
    text: str,
) -> None:
    assert remove_hooks(add_hooks(text, LAUNCHER).text, text).text == text


@given(text=files(), added=ANYTHING)
@settings(max_examples=200, deadline=None)
def test_a_change_made_in_between_survives_byte_for_byte(text: str, added: Any) -> None:
    """The user writes a member in front of everything else while our hooks are in."""
    if _has_ours(json.loads(text)):
        return
    member = f'{{ "added by hand" :{json.dumps(added)}'
    tail = "" if json.loads(text) == {} else ","
    edited = add_hooks(text, LAUNCHER).text.replace("{", member + ",", 1)
    left = remove_hooks(edited, text).text
    if tail:
        assert left == text.replace("{", member + ",", 1)
    else:
        assert json.loads(left) == {"added by hand": added}


@given(text=files(), mark=st.sampled_from([b"", b"\xef\xbb\xbf"]))
@settings(max_examples=60, deadline=None)
def test_a_file_comes_back_to_its_bytes(text: str, mark: bytes) -> None:
    raw = mark + text.encode()
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder))
        place.write(raw)
        ours_before = _has_ours(json.loads(text))
        place.install()
        outcome = place.uninstall()
        if ours_before:
            assert outcome.identical is False
            assert not _has_ours(place.parsed())
        else:
            assert place.read() == raw
            assert outcome.identical is True

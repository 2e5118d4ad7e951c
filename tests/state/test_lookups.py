"""What was looked up, and what a compaction made the agent look up again."""

import json

from holdfast.events import Searched, ToolRan
from holdfast.state import decode_state, encode_state
from holdfast.state.lookups import KEPT_SHOWN, MAX_LOOKUPS, MAX_SHOWN_CHARS, list_repeated

from .story import Story


def again(story: Story, epoch: int) -> list[tuple[str, str]]:
    return [(one.what, one.subject) for one in list_repeated(story.state.lookups, epoch)]


def test_what_was_read_before_the_compaction_and_after_it_was_looked_up_again() -> None:
    story = Story()
    story.touched("/r/a.py", "read").touched("/r/b.py", "read").touched("/r/a.py", "read")
    assert again(story, 0) == []
    story.compacted()
    story.touched("/r/a.py", "read").touched("/r/new.py", "read").touched("/r/a.py", "read")
    assert again(story, 1) == [("Read", "/r/a.py")]
    assert story.state.lookups["Read:/r/a.py"].times == 4


def test_a_file_that_was_changed_is_not_looked_up() -> None:
    story = Story().touched("/r/a.py", "changed").compacted().touched("/r/a.py", "changed")
    assert not story.state.lookups


def test_only_command_lines_that_merely_look_count() -> None:
    story = Story()
    for _ in range(2):
        story.ran("cd /r && git log --oneline | head -3", "abc").ran("make install", "ok")
        story.ran("cat a.py && make", "ok").ran("ls /missing", "no such file", ok=False)
        story.compacted()
    assert again(story, 1) == [("Bash", "git log --oneline")]
    assert len(story.state.lookups) == 1


def test_searches_and_pages_count_with_where_they_looked() -> None:
    story = Story()
    for _ in range(2):
        story.tell(Searched(story.at(), "walrus", "src", "a.py:1", True))
        story.tell(ToolRan(story.at(), "WebFetch", '{"url":"https://example.com"}', "page", True))
        story.tell(ToolRan(story.at(), "mcp__db__query", "{}", "rows", True))
        story.compacted()
    assert again(story, 1) == [
        ("Search", "walrus in src"),
        ("WebFetch", '{"url":"https://example.com"}'),
    ]


def test_what_the_latest_showed_is_kept_and_of_older_ones_only_that_they_were() -> None:
    story = Story()
    for n in range(30):
        story.ran(f"git show v{n}:notes", f"notes of {n}\n" * 100)
    shown = [one.shown for one in story.state.lookups.values()]
    assert sum(map(bool, shown)) == KEPT_SHOWN
    assert all(shown[-KEPT_SHOWN:])
    assert max(map(len, shown)) <= MAX_SHOWN_CHARS
    assert decode_state(json.loads(json.dumps(encode_state(story.state)))) == story.state


def test_a_thousand_look_ups_stay_bounded_and_repeated_ones_stay_longest() -> None:
    story = Story().touched("/r/often.py", "read").compacted().touched("/r/often.py", "read")
    for n in range(1000):
        story.touched(f"/r/file{n}.py", "read")
    assert len(story.state.lookups) == MAX_LOOKUPS
    assert again(story, 1) == [("Read", "/r/often.py")]


def test_look_ups_travel_with_the_state() -> None:
    story = Story().touched("/r/a.py", "read").compacted().touched("/r/a.py", "read")
    document = json.loads(json.dumps(encode_state(story.state)))
    assert decode_state(document).lookups == story.state.lookups

"""The need of a boundary, on hand-made sessions."""

from pathlib import Path

from benchmarks.measure.entities import Entity
from benchmarks.measure.knowledge import build_knowledge
from benchmarks.measure.need import compute_need, compute_rediscovery
from benchmarks.measure.session_files import find_boundaries
from survival_benchmark.measure.handmade import Story, tax_story


def needed(story: Story) -> set[Entity]:
    text = story.text()
    [boundary] = find_boundaries(story.rows)
    return set(compute_need(text, boundary, build_knowledge(text, boundary.index)).entities)


def test_what_was_known_before_and_is_used_after_is_needed() -> None:
    assert needed(tax_story()) == {
        Entity("path", "src/billing/tax.py"),
        Entity("path", "src/cart/checkout.py"),
        Entity("path", "tests/test_tax.py"),
        Entity("identifier", "compute_tax"),
        Entity("identifier", "roundHalfUp"),
        Entity("identifier", "cartLines"),
        Entity("identifier", "render_invoice"),
        Entity("command", "python -m pytest tests/test_tax.py"),
        Entity("task", "write the invoice test"),
        Entity("hash", "3fa9c21"),
    }


def test_new_things_thoughts_and_results_after_the_cut_are_not_needed() -> None:
    story = Story()
    story.read("src/a.py", "knownThing hiddenThing")
    story.idle(15)
    story.compact()
    story.says("brandNewThing")
    story.thinks("hiddenThing")
    story.read("src/b.py", "knownThing")
    story.idle(8)
    assert needed(story) == set()


def test_what_the_user_gave_first_is_not_needed() -> None:
    story = Story()
    story.read("src/a.py", "alphaThing betaThing")
    story.idle(15)
    story.compact()
    story.says("betaThing first")
    story.user("now look at alphaThing and betaThing in src/a.py")
    story.says("alphaThing")
    story.read("src/a.py")
    story.idle(8)
    assert needed(story) == {Entity("identifier", "betaThing")}


def test_what_stands_in_kept_messages_leaves_the_need() -> None:
    story = Story()
    story.read("src/a.py", "alphaThing betaThing")
    kept = story.says("alphaThing is the culprit")
    story.idle(15)
    story.compact(kept=(kept["uuid"],))
    story.says("alphaThing calls betaThing")
    story.idle(8)
    assert needed(story) == {Entity("identifier", "betaThing")}


def test_a_task_used_by_its_number_is_needed_by_its_subject() -> None:
    story = Story()
    story.task(7, "Write the invoice test")
    story.idle(15)
    story.compact()
    story.task_is(7, "in_progress")
    story.idle(8)
    assert needed(story) == {Entity("task", "write the invoice test")}


def test_the_summary_shows_by_bare_mention(tmp_path: Path) -> None:
    story = tax_story()
    for row in story.rows:
        if row.get("isCompactSummary"):
            row["message"]["content"] = "Summary: `roundHalfUp` in tax.py, commit 3fa9c21d."
    assert story.prepared(tmp_path).need.in_summary == {
        Entity("identifier", "roundHalfUp"),
        Entity("path", "src/billing/tax.py"),
        Entity("hash", "3fa9c21"),
    }


def test_a_boundary_with_too_little_need_is_left_out(tmp_path: Path) -> None:
    from benchmarks.measure.prepared_boundary import prepare_session

    story = Story()
    story.idle(15)
    story.compact()
    story.idle(8)
    assert prepare_session([str(story.write(tmp_path))], None).boundaries == []


def test_repeated_look_ups_are_counted_on_both_sides() -> None:
    story = Story()
    for number in range(15):
        story.read(f"src/m{number}.py")
    story.read("src/m0.py")
    story.compact()
    for number in (0, 1, 99, 98):
        story.read(f"src/m{number}.py")
    for number in range(4):
        story.edit("src/m0.py", f"a{number}", "b")
    text = story.text()
    [boundary] = find_boundaries(story.rows)
    after, before = compute_rediscovery(text, boundary)
    assert (after, before) == (2 / 8, 1 / 16)

"""However long a session gets, its state stays bounded, and what stands goes last."""

import json

from holdfast.events import CommandInvoked, PlanSet, SubagentStarted
from holdfast.state import (
    check_results,
    commands,
    dead_ends,
    decisions,
    encode_state,
    identifiers,
    list_facts,
    plans,
    replies,
    requests,
    rules,
    skills,
    subagents,
    symbols,
    tasks,
    touched_files,
)

from .story import Story


def long_session(length: int) -> Story:
    story = Story()
    for n in range(length):
        story.user(f"Never touch the area{n} of module{n}. See https://example.com/{n}")
        story.user(f"part{n}way", "answer", f"Which way for area{n}, old{n}road or part{n}way?")
        story.agent(f"Using the helper{n} did not work because of reason{n} here.")
        story.task(str(n), f"task {n}")
        story.touched(f"/r/file{n}.py", "changed", f"def function_number_{n}(): pass")
        story.ran(f"./deploy{n}.sh --target {n}", "fatal: no", ok=False)
        story.ran(f"npm run test:s{n}", "1 failed", ok=False)
        story.tell(PlanSet(story.at(), f"# Plan {n}", "", "approved"))
        story.tell(SubagentStarted(story.at(), f"call-{n}", "Explore", f"look {n}", ""))
        story.tell(CommandInvoked(story.at(), f"skill-{n}", "", "user"))
    return story


def test_every_table_is_bounded_and_full_tables_keep_the_latest() -> None:
    story = long_session(300)
    state = story.state
    bounds = {
        "rules": rules.MAX_RULES,
        "tasks": tasks.MAX_TASKS,
        "plans": plans.MAX_PLANS,
        "suite_runs": check_results.MAX_SUITES,
        "errors": check_results.MAX_ERRORS,
        "dead_ends": dead_ends.MAX_DEAD_ENDS,
        "decisions": decisions.MAX_DECISIONS,
        "files": touched_files.MAX_FILES,
        "commands": commands.MAX_COMMANDS,
        "identifiers": identifiers.MAX_IDENTIFIERS,
        "subagents": subagents.MAX_SUBAGENTS,
        "skills": skills.MAX_SKILLS,
    }
    for name, limit in bounds.items():
        assert len(getattr(state, name)) == limit, name
    assert len(state.symbols) <= symbols.MAX_SYMBOLS + symbols.SPARE_SYMBOLS
    assert sum(len(request.text) for request in state.requests.values()) <= requests.MAX_TOTAL_CHARS
    assert sum(len(reply.text) for reply in state.replies.values()) <= replies.MAX_TOTAL_CHARS
    assert "t299" in state.tasks
    assert "/r/file299.py" in state.files
    assert story.texts("request")[-1] == "/skill-299"


def test_a_state_document_stays_small_however_long_its_texts_are() -> None:
    story = Story()
    for n in range(70):
        story.user(f"{n} " + "wide words " * 20_000)
        story.agent("I'll use this instead of that because " + "reasons " * 50_000)
        story.ran(f"./tool{n}.sh", "fatal: " + "x" * 500_000, ok=False)
    assert len(json.dumps(encode_state(story.state))) < 1_500_000


def test_finished_work_gives_way_before_open_work() -> None:
    story = Story().task("open", "still to do")
    for n in range(tasks.MAX_TASKS + 50):
        story.task(str(n), f"task {n}").task_is(str(n), "completed")
    assert "still to do" in story.texts("task", "open")


def test_a_changed_file_stays_when_named_and_read_ones_give_way() -> None:
    story = Story().touched("/r/changed.py", "changed")
    for n in range(touched_files.MAX_FILES + 50):
        story.touched(f"/r/read{n}.py", "read")
    assert "/r/changed.py" in story.state.files


def test_a_rule_in_force_outlives_withdrawn_ones() -> None:
    story = Story().user("Never push to main.")
    for n in range(rules.MAX_RULES):
        story.user(f"Always put widget{n} into drawer{n}.")
        story.user(f"Forget the rule that widget{n} goes into drawer{n}.")
    assert "Never push to main." in story.texts("rule", "open")


def test_ids_stay_unique_however_many_facts_came_and_went() -> None:
    story = long_session(300)
    ids = [fact.id for fact in list_facts(story.state)]
    assert len(ids) == len(set(ids))

"""A command's rules stay in force: through two compactions, in its own session alone."""

import pytest

from holdfast.text import quote_block
from support.claude import (
    SMALL_WINDOW,
    Lane,
    Reply,
    Request,
    ScriptedApi,
    bash,
    fills_the_window,
    text,
    tool,
)

from .conftest import MakeStage
from .stage import BRIEF, Stage, injected, steering

pytestmark = pytest.mark.client

IN_FORCE = "Holdfast: commands and skills in force"
RULES = "Ask with AskUserQuestion before every commit.\nNever push to main."
SHOWN = quote_block(RULES)  # as the text of a file
BABYSIT = f"""---
description: Watches over the work
compact_context:
  priority: high
  preserve_rules:
    - "Run the linter first"
---
# Babysit

<!-- COMPACT_SUMMARY_START
Kept across compactions.
-->
{RULES}
<!-- COMPACT_SUMMARY_END -->

Begin with $ARGUMENTS.
"""
# What a project's own registration does when its command is run: once by name, in one file for
# all sessions of the project.
STATE_FILE = "docs/09-agents/session-state.json"
REGISTER = f"""python3 - <<'EOF'
import datetime, json, pathlib
path = pathlib.Path("{STATE_FILE}")
path.parent.mkdir(parents=True, exist_ok=True)
state = json.loads(path.read_text()) if path.exists() else {{}}
listed = state.setdefault("active_commands", [])
if not any(one["name"] == "babysit" for one in listed):
    now = datetime.datetime.now(datetime.timezone.utc).isoformat().replace("+00:00", "Z")
    listed.append({{"name": "babysit", "activated_at": now, "state": {{"story": "US-0009"}}}})
path.write_text(json.dumps(state, indent=2))
EOF"""
REPORT = """---
description: Prints a report
one-shot: true
---
Print a report of the day.
"""
SKILL = """---
name: careful
description: Works with care
---
<!-- COMPACT_SUMMARY_START -->
Measure twice before cutting.
<!-- COMPACT_SUMMARY_END -->
Take care.
"""


def with_commands(stage: Stage) -> Stage:
    commands = stage.client.project / ".claude" / "commands"
    commands.mkdir(parents=True)
    (commands / "babysit.md").write_text(BABYSIT)
    (commands / "report.md").write_text(REPORT)
    skill = stage.client.project / ".claude" / "skills" / "careful"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text(SKILL)
    return stage


def latest(request: Request) -> str:
    """The last brief; of a session that knows nothing else it is the rules alone."""
    found = [*injected(request, BRIEF), *injected(request, IN_FORCE)]
    return found[-1] if found else ""


def test_rules_come_back_after_two_compactions_and_one_shot_commands_do_not(
    stage: Stage, api: ScriptedApi
) -> None:
    with_commands(stage)
    with stage.client.session() as live:
        live.ask("/babysit the cart story")
        live.ask("/report")
        api.say(tool("Skill", skill="careful"), bash("echo work"), "Careful now.")
        live.ask("be careful and go on")
        live.compact()
        live.ask("go on")
        first = latest(api.last)
        api.say(bash("echo more"), "More done.")
        live.ask("a little more")
        live.compact()
        live.ask("go on")
        second = latest(api.last)
    for brief in (first, second):
        assert SHOWN in brief
        assert "- Run the linter first" in brief
        assert "Measure twice before cutting." in brief
        assert "do not run them again" in brief
        assert 'for reference: "the cart story"' in brief
        assert brief.index("/babysit") < brief.index("/careful")
        assert "/report" not in brief.partition("commands and skills in force")[2]
        assert len(brief) <= 10_000
    assert all("in force: /babysit, /careful" in steering(r) for r in api.summary_requests)
    assert stage.log() == ""


def test_rules_that_one_hook_cannot_hold_follow_with_prompts_and_tools(
    stage: Stage, api: ScriptedApi
) -> None:
    with_commands(stage)
    rules = [
        f"Rule {n} of {name}: {'word ' * 9}" for name in ("one", "two", "six") for n in range(70)
    ]
    for at, name in enumerate(("one", "two", "six")):
        block = "\n".join(rules[70 * at : 70 * at + 70])
        path = stage.client.project / f".claude/commands/{name}.md"
        path.write_text(f"<!-- COMPACT_SUMMARY_START -->\n{block}\n<!-- COMPACT_SUMMARY_END -->\n")
    with stage.client.session() as live:
        for name in ("one", "two", "six"):
            live.ask(f"/{name}")
        live.compact()
        api.say(bash("echo more"), bash("echo again"), "Done.")
        live.ask("go on")
        live.ask("and on")
        texts = injected(api.last, "Holdfast")
    given = "\n".join(texts)
    assert [rule for rule in rules if rule.strip() not in given] == []
    assert "the summary keeps what they demand" in steering(api.summary_requests[-1])
    assert all(len(one) <= 10_000 for one in texts)
    assert stage.log() == ""


def test_an_automatic_compaction_in_the_middle_of_the_command_brings_its_rules(
    make_stage: MakeStage, api: ScriptedApi
) -> None:
    stage = with_commands(make_stage(env=SMALL_WINDOW))
    api.say(*stage.work(), fills_the_window(bash("echo busy")), bash("echo on"), "Went on.")
    with stage.client.session() as live:
        turn = live.ask("/babysit the cart story")
    assert len(turn.compactions) == 1
    assert SHOWN in latest(api.last)


def test_two_sessions_do_not_see_each_others_commands(stage: Stage, api: ScriptedApi) -> None:
    with_commands(stage)

    def answer(request: Request) -> Reply:
        return text("ok")

    api.script(Lane.MAIN, answer)
    with stage.client.session() as one, stage.client.session() as other:
        one.ask("/babysit the cart story")
        other.ask("Build something else. Always paint it blue.")
        for live in (one, other):
            live.compact()
            live.ask("go on")
        requests = {r.session_id: r for r in api.main_requests}
    assert SHOWN in latest(requests[one.session_id])
    assert "/babysit" not in latest(requests[other.session_id])


def test_resume_keeps_them_and_clear_starts_clean(stage: Stage, api: ScriptedApi) -> None:
    with_commands(stage)
    with stage.client.session() as live:
        live.ask("/babysit the cart story")
        session = live.session_id
    with stage.client.session(resume=session) as live:
        live.compact()
        live.ask("go on")
        assert SHOWN in latest(api.last)
        live.ask("/clear")
        live.ask("Something new. Always paint it blue.")
        live.compact()
        live.ask("go on")
        assert live.session_id != session
        assert "/babysit" not in latest(api.last)


def test_a_command_by_hand_is_in_force_until_it_is_taken_out(
    stage: Stage, api: ScriptedApi
) -> None:
    with_commands(stage)
    with stage.client.session() as live:
        live.ask("Build the shop. Always paint it blue.")
        stage.settled(live)
        stage.holdfast("session", "commands", "activate", "careful", "--session", live.session_id)
        live.compact()
        live.ask("go on")
        assert "Measure twice before cutting." in latest(api.last)
        stage.settled(live)
        stage.holdfast("session", "commands", "deactivate", "careful", "--session", live.session_id)
        live.compact()
        live.ask("go on")
        assert "Measure twice before cutting." not in latest(api.last)


def test_a_command_that_registers_itself_is_one_command_and_a_nested_one_is_found(
    stage: Stage, api: ScriptedApi
) -> None:
    commands = stage.client.project / ".claude" / "commands" / "agileflow"
    commands.mkdir(parents=True)
    (commands / "babysit.md").write_text(BABYSIT)
    (commands / "story").mkdir()
    (commands / "story" / "list.md").write_text(SKILL)
    with stage.client.session() as live:
        nested = bash(REGISTER.replace("babysit", "story/list"))
        api.say(bash(REGISTER), nested, "Watching.")
        live.ask("/agileflow:babysit the cart story")
        assert "babysit" in (stage.client.project / STATE_FILE).read_text()
        live.compact()
        live.ask("go on")
        brief = latest(api.last)
        assert brief.count("Never push to main.") == 1
        assert "story = US-0009" in brief
        assert "Measure twice before cutting." in brief
        stage.settled(live)
        stage.holdfast("session", "commands", "deactivate", "babysit", "--session", live.session_id)
        live.compact()
        live.ask("go on")
        assert "Never push to main." not in latest(api.last)
    assert stage.log() == ""


def lines_of(name: str, width: int) -> list[str]:
    lines = [f"Rule {number} of {name}: " for number in range(1, 71)]
    return [line + "x" * (width - len(line)) for line in lines]


def long_commands(stage: Stage, width: int) -> dict[str, list[str]]:
    """Three commands of 70 lines each; the last is the most urgent."""
    folder = stage.client.project / ".claude" / "commands"
    folder.mkdir(parents=True)
    found = {}
    for name, priority in (("first", "normal"), ("second", "normal"), ("third", "critical")):
        found[name] = lines_of(name, width)
        block = "\n".join(found[name])
        (folder / f"{name}.md").write_text(
            f"---\ndescription: The {name}\ncompact_context:\n  priority: {priority}\n---\n"
            f"<!-- COMPACT_SUMMARY_START -->\n{block}\n<!-- COMPACT_SUMMARY_END -->\n"
        )
    return found


def test_three_long_commands_come_back_whole_where_they_fit(stage: Stage, api: ScriptedApi) -> None:
    commands = long_commands(stage, 28)
    with stage.client.session() as live:
        for name in commands:
            live.ask(f"/{name}")
        live.compact()
        live.ask("go on")
        brief = latest(api.last)
    for lines in commands.values():
        assert [line for line in lines if line not in brief] == []
    assert len(brief) <= 10_000


def test_where_they_do_not_fit_the_urgent_comes_first_and_the_rest_with_the_prompt(
    stage: Stage, api: ScriptedApi
) -> None:
    commands = long_commands(stage, 60)
    with stage.client.session() as live:
        for name in commands:
            live.ask(f"/{name}")
        live.compact()
        live.ask("go on")
        brief, *rest = injected(api.last, (*BRIEF, IN_FORCE))
    told = {name: sum(line in brief for line in lines) for name, lines in commands.items()}
    assert told["third"] == 70
    assert told["first"] + told["second"] >= 60
    assert 8_500 < len(brief) <= 10_000
    given = "\n".join([brief, *rest])
    assert [line for lines in commands.values() for line in lines if line not in given] == []

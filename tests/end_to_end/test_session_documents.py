"""Notes, handoffs and summaries of finished tasks, with the real client."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast
from support.claude import Lane, Reply, Request, ScriptedApi, bash, text, texts, tool, wait_until

from .stage import BRIEF, OFFER, RULE, Stage, injected, steering, write_file

pytestmark = pytest.mark.client

OPENING = f"Build the shop on port 8123. {RULE}"
NOTED = "Cents as integers, because floats lost one in March"
TOLD = "Deploy only from the release branch of the shop"
EDITED = "Call Maria about the paid plan before anything else"


class Papers(Stage):
    """A stage on which the `holdfast` command is installed."""

    def __init__(self, root: Path, api: ScriptedApi, **more: object) -> None:
        super().__init__(root, api, **more)  # type: ignore[arg-type]
        command = root / "bin" / "holdfast"
        source = Path(holdfast.__file__).parents[1]
        run = f'"{sys.executable}" -m holdfast.cli.main "$@"'
        command.write_text(f'#!/bin/sh\nPYTHONPATH="{source}" exec {run}\n')
        command.chmod(0o755)

    def by_hand(self, *words: str) -> str:
        """As a person would, at another terminal in the project's folder."""
        env = {"HOME": str(self.client.home), "PATH": os.defpath, "HOLDFAST_HOME": str(self.data)}
        command = [str(self.client.root / "bin" / "holdfast"), *words]
        done = subprocess.run(
            command, cwd=self.client.project, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def page(self, session_id: str) -> Path:
        return self.session_dir(session_id) / f"HANDOFF-{session_id}.md"


@pytest.fixture
def papers(tmp_path: Path, api: ScriptedApi) -> Papers:
    return Papers(tmp_path, api)


def left_unfinished(papers: Papers, api: ScriptedApi) -> str:
    """A session that ended with work open; its handoff page is written."""
    api.say(*papers.work(), "Begun.")
    session_id = papers.client.run(OPENING).session_id
    wait_until(lambda: ended(papers, session_id), 20)
    return session_id


def ended(papers: Papers, session_id: str) -> bool:
    if not papers.page(session_id).exists():
        return False
    with papers.store() as store:
        session = store.session(session_id)
    offers = list((papers.data / "projects").rglob(session_id))
    return session is not None and session.ended != "" and bool(offers)


def shown(request: Request) -> str:
    return "\n".join(piece.text for piece in texts(request))


def test_a_handoff_is_offered_expanded_and_taken_up(papers: Papers, api: ScriptedApi) -> None:
    left = left_unfinished(papers, api)
    page = papers.page(left).read_text()
    for words in (RULE, "Wire the cart to checkout", "cart_totals.py", "blue-green", "8123"):
        assert words in page
    api.say(bash(f"holdfast session resume {left[:8]}"), "I go on with the cart.")
    papers.client.run("hello")
    (offer,) = injected(api.main_requests[-2], OFFER)
    assert f"holdfast session resume {left[:8]}" in offer
    assert len(offer) <= 600
    expanded = shown(api.last)
    assert RULE in expanded
    assert "test_total_rounds_half_even" in expanded
    api.say("Nothing to take up.")
    papers.client.run("hello again")
    # What was taken up and is not finished is now the second session's to hand over.
    (carried,) = injected(api.last, OFFER)
    assert f"session resume {left[:8]}" not in carried
    assert "Wire the cart to checkout" in carried
    assert papers.log() == ""


def test_an_edited_handoff_wins_and_ours_goes_beside_it(papers: Papers, api: ScriptedApi) -> None:
    left = left_unfinished(papers, api)
    path = papers.page(left)
    edited = f"{path.read_text().rstrip()}\n\n## Next\n\n- {EDITED}\n"
    path.write_text(edited)
    beside = papers.by_hand("session", "handoff", left)
    assert path.read_text() == edited
    assert path.with_suffix(".new.md").exists()
    assert str(path.with_suffix(".new.md")) in beside.replace("\n", "")
    api.say("I shall call her.")
    papers.client.run("hello")
    (offer,) = injected(api.last, OFFER)
    assert EDITED in offer
    assert len(offer) <= 600
    assert EDITED in papers.by_hand("session", "resume")


def test_notes_come_back_after_a_compaction(papers: Papers, api: ScriptedApi) -> None:
    api.say(*papers.work(), bash(f'holdfast session note --kind decision "{NOTED}"'), "Begun.")
    api.summarise_with("The shop deploys from any branch. Money is a float.")
    with papers.client.session() as live:
        live.ask(OPENING)
        papers.settled(live)
        told = papers.by_hand(
            "session", "note", "--kind", "rule", "--session", live.session_id, TOLD
        )
        assert "Noted as rule" in told
        live.compact()
        live.ask("go on")
    (request,) = api.summary_requests
    (brief,) = injected(api.last, BRIEF)
    for text_ in (steering(request), brief):
        assert text_.count(NOTED) == 1
        assert text_.count(TOLD) == 1
    assert "where the summary says otherwise, the notes are right" in brief
    notes = (papers.session_dir(live.session_id) / "notes.md").read_text()
    assert "## Current State" in notes
    assert "Task done: #2 Sketch the price table" in notes
    assert "Tests failed: `pytest -q`" in notes
    assert NOTED in notes
    assert papers.log() == ""


def test_two_sessions_never_see_each_others_notes(papers: Papers, api: ScriptedApi) -> None:
    def answer(request: Request) -> Reply:
        who = "cats" if "the cats" in request else "dogs"
        mine = [r for r in api.main_requests if r.session_id == request.session_id]
        return (
            bash(f'holdfast session note "Feed the {who} at noon"')
            if len(mine) == 1
            else text("ok")
        )

    api.script(Lane.MAIN, answer)
    with papers.client.session() as cats, papers.client.session() as dogs:
        for live, words in ((cats, "Look after the cats."), (dogs, "Look after the dogs.")):
            live.send(words)
        for live in (cats, dogs):
            live.wait()
        for live in (cats, dogs):
            live.compact()
            live.ask("go on")
    for live, own, other in ((cats, "cats", "dogs"), (dogs, "dogs", "cats")):
        last = [r for r in api.main_requests if r.session_id == live.session_id][-1]
        (brief,) = injected(last, BRIEF)
        assert f"Feed the {own} at noon" in brief
        assert f"Feed the {other}" not in brief
        assert f"the {other}" not in (papers.session_dir(live.session_id) / "notes.md").read_text()


def test_finished_tasks_are_in_the_summary_request(papers: Papers, api: ScriptedApi) -> None:
    def full(reply: Reply) -> Reply:
        return reply.with_usage(input_tokens=4, cache_read_input_tokens=145_000, output_tokens=9)

    work = [
        tool("TaskCreate", subject="Sketch the price table", description="first"),
        tool("TaskUpdate", taskId="1", status="in_progress"),
        text("I decided to use integer cents rather than floats for every price in the table.")
        + write_file(papers, "price_table.py", "PRICES = {}\n"),
        bash("pytest -q"),
        tool("TaskUpdate", taskId="1", status="completed"),
        *(bash(f"echo step {n} > step-{n}.txt") for n in range(22)),
    ]
    api.say(*map(full, work), full(text("All steps made.")), "After.")
    api.summarise_with("Some steps were made.")
    with papers.client.session() as live:
        live.ask("Make the shop.")
        papers.settled(live)
        live.compact()
        live.ask("go on")
    (request,) = api.summary_requests
    told = steering(request)
    heading = "Finished tasks, summarised when they were done:"
    _, _, behind = told.partition(f"{heading}\n")
    line = behind.partition("\n")[0]
    for words in (
        "#1 Sketch the price table",
        "price_table.py",
        "integer cents rather than floats",
    ):
        assert words in line
    assert "`pytest -q`" in told
    (brief,) = injected(api.last, BRIEF)
    assert "pytest -q passed" in brief
    assert heading in brief
    assert ".. " not in line
    assert "price_table.py" in brief
    listed = papers.by_hand("session", "tasks", live.session_id)
    assert "integer cents rather than floats" in listed
    assert papers.log() == ""

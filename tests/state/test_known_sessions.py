"""What is true in real sessions, read from their raw rows by eye, against what the state says.

Every number is a line of the file (the first is 0), and "after" means with that line read.
The truth was decided from the rows alone: what was asked, what the tools answered.
"""

import pytest

from holdfast.session.follow import follow_transcript
from holdfast.state import Fact, State, list_facts
from holdfast.state.facts import OPEN
from support.transcripts import of_corpus, row_starts

pytestmark = pytest.mark.corpus


class Session:
    """A session of the corpus, and what is known of it after one of its rows."""

    def __init__(self, prefix: str) -> None:
        self.path = of_corpus(prefix)
        self._starts = row_starts(self.path)

    def after(self, row: int) -> "Known":
        return Known(follow_transcript(self.path, until=self._starts[row + 1]).state)

    def at_the_end(self) -> "Known":
        return Known(follow_transcript(self.path, final=True).state)


class Known:
    def __init__(self, state: State) -> None:
        self.state = state
        self.facts = list(list_facts(state))

    def of(self, kind: str, status: str = "") -> list[Fact]:
        of_kind = [fact for fact in self.facts if fact.kind == kind]
        return [fact for fact in of_kind if not status or fact.status == status]

    @property
    def tasks(self) -> dict[str, str]:
        return {key: task.client_status for key, task in self.state.tasks.items()}

    @property
    def changes(self) -> dict[str, int]:
        """How often each file was changed, by the end of its path."""
        changed = {p: f.changed for p, f in self.state.files.items() if f.changed}
        return {path.split("/cli/")[-1]: count for path, count in changed.items()}

    @property
    def open_errors(self) -> list[str]:
        """The commands whose failure still stands."""
        return [error.command for error in self.state.errors.values() if error.status == OPEN]

    @property
    def last_test(self) -> tuple[str, str]:
        run = list(self.state.suite_runs.values())[-1]
        return run.command, run.result


class TestScopingTheExplainCommand:
    """67d765b5: a test written first, made to pass, a regression found and mended."""

    session = staticmethod(lambda: Session("67d765b5"))

    def test_the_new_test_does_not_compile_until_the_function_is_there(self) -> None:
        red = self.session().after(194)
        command = "go test ./cmd/entire/cli/transcript/... -run TestSliceFromLine -v"
        assert red.last_test == (command, "failed")
        assert red.open_errors == [command]
        assert self.session().after(200).open_errors == []

    def test_the_full_run_that_ends_in_fail_is_red_though_its_tail_shows_passes(self) -> None:
        assert self.session().after(272).last_test == ("go test ./cmd/entire/cli/... -v", "failed")

    def test_the_regression_is_named_and_goes_with_its_mending(self) -> None:
        red = self.session().after(285)
        run = list(red.state.suite_runs.values())[-1]
        assert run.result == "failed"
        assert "TestFormatCheckpointOutput_Verbose" in run.failing
        assert self.session().after(301).open_errors == []

    def test_what_stands_at_the_end(self) -> None:
        end = self.session().at_the_end()
        assert end.state.session.branch == "alex/test-explain-checkpoint-boundaries"
        by_name = {path.rsplit("/", 1)[-1]: count for path, count in end.changes.items()}
        assert by_name == {
            "parse_test.go": 1,
            "parse.go": 1,
            "explain_test.go": 2,
            "explain.go": 4,
        }
        assert end.last_test[1] == "passed"
        assert end.open_errors == []
        assert end.tasks == {}
        assert [fact.status for fact in end.of("subagent")] == ["done", "done"]


class TestAddingTelemetry:
    """4e836284: todo lists, a rule of the user, a linter that complains twice."""

    session = staticmethod(lambda: Session("4e836284"))

    def test_the_module_check_fails_and_passes_after_the_commit(self) -> None:
        assert self.session().after(11).open_errors == ["mise run lint:gomod"]
        assert self.session().after(24).open_errors == []

    def test_the_users_rule_holds_from_the_row_it_was_said_in(self) -> None:
        rules = [fact.text for fact in self.session().after(34).of("rule", OPEN)]
        assert rules == ["do not push to github anything"]
        rules = [fact.text for fact in self.session().at_the_end().of("rule", OPEN)]
        assert rules == ["do not push to github anything"]

    def test_the_todo_list_in_the_middle_of_the_work(self) -> None:
        statuses = {
            t.subject: t.client_status for t in self.session().after(102).state.tasks.values()
        }
        assert statuses == {
            "Refactor telemetry to use context-based pattern (Stripe CLI style)": "completed",
            "Implement native machine ID generation for Linux/macOS": "completed",
            "Update tests for new telemetry API": "completed",
            "Update root.go with PersistentPostRun hooks": "completed",
            "Update main.go to use context-based telemetry": "in_progress",
            "Remove machineid dependency and run go mod tidy": "pending",
            "Run tests and lint": "pending",
        }

    def test_the_item_that_fell_off_the_list_was_never_done(self) -> None:
        end = self.session().at_the_end()
        cancelled = [fact.text for fact in end.of("task", "cancelled")]
        assert cancelled == ["Remove machineid dependency and run go mod tidy"]
        assert end.of("task", OPEN) == []

    def test_the_linters_complaint_is_open_until_it_passes(self) -> None:
        assert self.session().after(118).open_errors == ["mise run lint"]
        assert self.session().after(128).open_errors == []

    def test_what_stands_at_the_end(self) -> None:
        end = self.session().at_the_end()
        assert end.state.session.branch == "dev1/add-telemetry"
        assert end.changes == {
            "telemetry/telemetry.go": 18,
            "root.go": 7,
            "cmd/entire/main.go": 5,
            "telemetry/telemetry_test.go": 5,
        }
        assert end.last_test == ("mise run test", "passed")
        assert end.open_errors == []


class TestRenamingAndMerging:
    """53ea1606: a refused edit, a branch made and left, a merge with conflicts."""

    session = staticmethod(lambda: Session("53ea1606"))

    def test_the_branch_follows_the_checkout_and_comes_back(self) -> None:
        assert self.session().after(30).state.session.branch == "alex/ent-221-type-consolidation"
        assert self.session().after(46).state.session.branch == "alex/rename-last-interaction-time"
        assert self.session().at_the_end().state.session.branch == "alex/ent-221-type-consolidation"

    def test_an_edit_that_the_user_refused_changed_nothing(self) -> None:
        known = self.session().after(26)
        assert known.changes == {}
        assert [fact.detail for fact in known.of("dead_end")] == ["rejected by the user"]

    def test_the_conflict_is_settled_by_the_merge_commit(self) -> None:
        merging = [f.text for f in self.session().after(240).of("dead_end", OPEN)]
        assert any(text.startswith("git merge origin/") for text in merging)
        merged = [f.text for f in self.session().after(353).of("dead_end", OPEN)]
        assert not any(text.startswith("git merge origin/") for text in merged)

    def test_what_stands_at_the_end(self) -> None:
        end = self.session().at_the_end()
        by_name = {path.rsplit("/", 1)[-1]: count for path, count in end.changes.items()}
        assert by_name == {
            "state.go": 2,
            "status.go": 1,
            "status_test.go": 6,
            "manual_commit_types.go": 4,
            "manual_commit.go": 2,
            "manual_commit_hooks.go": 1,
            "manual_commit_session.go": 2,
            "auto_commit.go": 2,
            "session_state_test.go": 3,
            "last_interaction_test.go": 1,
        }
        assert end.last_test == ("mise run test:ci", "passed")
        assert end.open_errors == []
        assert end.tasks == {}


class TestComputingTranscriptPaths:
    """4f8c1176: an approved plan, five tasks, a test that breaks on the way."""

    session = staticmethod(lambda: Session("4f8c1176"))

    def test_tasks_as_they_are_worked_through(self) -> None:
        assert self.session().after(51).tasks == dict.fromkeys(
            ("t1", "t2", "t3", "t4", "t5"), "pending"
        )
        assert self.session().after(90).tasks == {
            "t1": "completed",
            "t2": "in_progress",
            "t3": "pending",
            "t4": "pending",
            "t5": "pending",
        }

    def test_an_edit_that_failed_changed_nothing(self) -> None:
        assert self.session().after(56).changes == {}

    def test_the_broken_test_is_named_and_passes_with_the_whole_run(self) -> None:
        red = self.session().after(234)
        assert red.open_errors == ["mise run test"]
        name = "TestResumeFromCurrentBranch_WithEntireCheckpointTrailer"
        assert name in list(red.state.suite_runs.values())[-1].failing
        assert self.session().after(282).open_errors == []

    def test_what_stands_at_the_end(self) -> None:
        end = self.session().at_the_end()
        assert end.tasks == {
            "t1": "completed",
            "t2": "completed",
            "t3": "completed",
            "t4": "completed",
            "t5": "in_progress",
        }
        by_name = {path.rsplit("/", 1)[-1]: count for path, count in end.changes.items()}
        assert by_name == {
            "checkpoint.go": 3,
            "committed.go": 1,
            "manual_commit_condensation.go": 1,
            "auto_commit.go": 2,
            "manual_commit_rewind.go": 5,
            "resume.go": 2,
        }
        assert [fact.status for fact in end.of("plan")] == [OPEN]
        assert end.last_test == ("mise run test:integration", "passed")
        assert end.open_errors == []
        assert end.state.session.branch == "dev1/not-use-transcript-path"


class TestCleaningUpSessions:
    """1284c080: tasks that block each other, one taken up again, tests red and green."""

    session = staticmethod(lambda: Session("1284c080"))

    def test_tasks_with_what_blocks_them(self) -> None:
        known = self.session().after(702)
        assert known.tasks == dict.fromkeys(("t1", "t2", "t3", "t4"), "pending")
        assert known.state.tasks["t2"].blocked_by == ("1",)
        assert known.state.tasks["t3"].blocked_by == ("2",)

    def test_a_finished_task_is_taken_up_again_and_finished(self) -> None:
        assert self.session().after(1251).tasks["t3"] == "completed"
        assert self.session().after(1300).tasks["t3"] == "in_progress"
        assert self.session().after(1383).tasks["t3"] == "completed"

    def test_the_integration_test_is_red_until_the_same_test_passes(self) -> None:
        red = self.session().after(812)
        assert any("TestShadow_CommitBeforeStop" in error for error in red.open_errors)
        assert self.session().after(882).last_test[1] == "passed"
        assert self.session().after(928).open_errors == []

    def test_a_pass_of_just_the_failing_test_mends_a_run_of_several(self) -> None:
        assert len(self.session().after(1209).open_errors) == 1
        assert self.session().after(1221).open_errors == []

    def test_what_stands_at_the_end(self) -> None:
        end = self.session().at_the_end()
        assert end.tasks == {
            "t1": "completed",
            "t2": "completed",
            "t3": "completed",
            "t4": "pending",
        }
        assert end.last_test == ("mise run test:ci", "passed")
        assert end.open_errors == []
        assert end.state.session.branch == "alex/ent-221-cleanup-and-sessions-fix"


def test_08940314_a_build_breaks_and_is_mended_and_no_test_is_red_at_the_end() -> None:
    session = Session("08940314")
    assert "mise run build" in session.after(1111).open_errors
    assert "mise run build" not in session.after(1120).open_errors
    assert session.after(1143).last_test == ("mise run test:ci", "failed")
    end = session.at_the_end()
    assert end.last_test == ("mise run test:ci", "passed")
    # Run once more behind a pipe, and silent: how it ended was not shown.
    assert end.open_errors == ["go build ./cmd/entire"]
    assert end.of("test", OPEN) == []
    assert end.state.session.branch == "soph/agent-attribution"


def test_43b2bd6e_the_linter_is_green_again_within_a_chain_of_commands() -> None:
    session = Session("43b2bd6e")
    assert session.after(172).open_errors == ["mise run lint"]
    assert session.after(192).open_errors == []
    assert session.after(504).open_errors == ["mise run lint"]
    assert session.after(514).open_errors == []
    assert session.at_the_end().open_errors == []


def test_266b3f40_a_linter_that_is_not_installed_is_a_dead_end_and_not_an_error() -> None:
    session = Session("266b3f40")
    known = session.after(340)
    tried = {fact.text for fact in known.of("dead_end", OPEN)}
    assert {"golangci-lint run ./...", "mise run lint:full"} <= tried
    assert not [error for error in known.open_errors if error in tried]


def test_4b3ddf27_tasks_that_the_client_lists_and_then_closes() -> None:
    session = Session("4b3ddf27")
    listed = session.after(896).tasks
    assert (listed["t1"], listed["t2"], listed["t3"]) == ("completed", "completed", "in_progress")
    end = session.at_the_end().tasks
    done = {task for task, status in end.items() if status == "completed"}
    assert done == {"t1", "t2", "t3", "t6", "t7", "t8", "t9"}
    assert {end[f"t{n}"] for n in (4, 5, 10, 11, 12, 13)} == {"pending"}


def test_03a1382e_the_session_moves_to_another_branch_and_edits_only_four_files() -> None:
    session = Session("03a1382e")
    assert session.after(228).state.session.branch == "alex/ent-221-type-consolidation"
    end = session.at_the_end()
    assert end.state.session.branch == "alex/ent-221-better-state-tracking-for-sessions"
    by_name = {path.rsplit("/", 1)[-1]: count for path, count in end.changes.items()}
    assert by_name == {
        "KNOWN_LIMITATIONS.md": 1,
        "prepare-commit-msg": 2,
        "post-commit": 2,
        "pre-push": 2,
    }
    assert end.of("test") == end.of("error") == end.of("task") == []

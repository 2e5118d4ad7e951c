"""Which of the collected tests take part, and which are marked by what they use.

A test that asks for a PostgreSQL server is marked `database`; one in a folder `browser` is
marked `browser`, and one in a client's folder of `end_to_end` is marked `npm`: its client comes
from there.

Tests over a corpus of real sessions, only where one is named: $HOLDFAST_CORPUS. And every test
has a name of its own: workers are handed tests by name, and of two that share one only the first
would be run, without a word.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from holdfast.redact import use_patterns
from support.growing_session import Follow

# A shell starts background jobs with SIGINT ignored, and what tests start inherits that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# So that a broken promise of a store or of a client says what was found.
pytest.register_assert_rewrite("support.store_conformance", "support.client_conformance")
# PostgreSQL and the service, for every folder that asks: one server per worker.
pytest_plugins = ["support.team_fixtures"]

# How long examples take says something of the machine, not of the code. The same examples on each
# run, so that a change is judged by what it changed; HYPOTHESIS_PROFILE=random looks for new ones.
settings.register_profile("random", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fixed", settings.get_profile("random"), derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))


# Start many processes, or read for seconds: half of the time of all that is quick. `make check`
# leaves them to `make test`.
LENGTHY = frozenset(
    "test_terminal_width test_history test_full_disk test_adding_a_client test_truth test_contents"
    " test_interrupted test_update_deadline test_follow_rewritten test_main test_tools"
    " test_lazy_group test_interrupt test_handoffs_add_up test_hook_trial test_recipes"
    " test_concurrent_writers test_load_isolation test_auth test_summary_before_brief"
    " test_reader_properties test_bounds test_shapes test_quoted_text test_kinds test_build"
    " test_inbox_delivery test_fold_in_pieces test_sdk_memory test_projects test_user_patterns"
    " test_one_writer test_posted_snapshot test_check_hooks test_guards test_fast test_messages"
    " test_compaction_owner test_conventions test_postgres test_plugin".split()
)


@pytest.fixture
def follow(tmp_path: Path) -> Iterator[Follow]:
    following = Follow(tmp_path)
    yield following
    following.store.close()


@pytest.fixture(autouse=True)
def without_patterns_of_another_test() -> Iterator[None]:
    """A user's own patterns hold for a process: here for one test."""
    yield
    use_patterns({})


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not os.environ.get("HOLDFAST_CORPUS"):
        _leave_out_the_corpus(config, items)
    for item in items:
        _mark(item)
    seen: set[str] = set()
    for item in items:
        if item.nodeid in seen:
            raise pytest.UsageError(f"two tests are called {item.nodeid}: one would not be run")
        seen.add(item.nodeid)


def _mark(item: pytest.Item) -> None:
    if "browser" in item.path.parts:
        item.add_marker("browser")
    if "end_to_end" in item.path.parent.parent.parts:
        item.add_marker("npm")
    if item.path.stem in LENGTHY or "survival_benchmark" in item.path.parts:
        item.add_marker("lengthy")
    given = getattr(item, "callspec", None)
    if "server" in getattr(item, "fixturenames", ()) or (
        given is not None and "postgres" in given.params.values()
    ):
        item.add_marker("database")


def _leave_out_the_corpus(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [item for item in items if item.get_closest_marker("corpus")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]

"""The texts on the page about quality are what the product makes of recorded sessions."""

from pathlib import Path

import pytest

from holdfast.brief.compose import compose
from holdfast.brief.hook_texts import compose_steering

from .role_states import recorded_before_last_compaction, sample_before_compaction

PAGE = Path(__file__).parents[2] / "docs" / "quality.md"


def shown(heading: str) -> str:
    _, _, rest = PAGE.read_text("utf-8").partition(f"### {heading}")
    return rest.partition("```text\n")[2].partition("\n```")[0]


@pytest.mark.parametrize(
    ("heading", "size"),
    [("The brief at 2,000 characters", 2000), ("The same at 6,000 characters", 6000)],
)
def test_the_briefs_on_the_page_are_those_of_the_sample(heading: str, size: int) -> None:
    assert shown(heading) == compose(sample_before_compaction(), size).text


def test_the_steering_on_the_page_is_that_of_the_sample() -> None:
    assert shown("For the summariser") == compose_steering(sample_before_compaction(), 4000)


@pytest.mark.parametrize(
    ("heading", "name"),
    [("A weather station", "station"), ("A session in German", "backup")],
)
def test_the_briefs_on_the_page_are_those_of_the_recorded_sessions(heading: str, name: str) -> None:
    assert shown(heading) == compose(recorded_before_last_compaction(name), 4000).text

"""The line of context use: bounded, true to its peaks, and ready to be drawn."""

from holdfast.events import UsageMeasured
from holdfast.state import decode_state, encode_state
from holdfast.state.usage_history import MAX_POINTS, SPARE_POINTS

from .story import Story


def answered(story: Story, context: int) -> None:
    story.tell(UsageMeasured(story.at(), "model", context, 10))


def test_each_answer_is_a_point_and_a_compaction_a_drop() -> None:
    story = Story()
    for context in (10_000, 60_000, 150_000):
        answered(story, context)
    story.compacted()
    answered(story, 20_000)
    points = list(story.state.usage_history.values())
    assert [(p.context, p.epoch) for p in points] == [
        (10_000, 0), (60_000, 0), (150_000, 0), (20_000, 1),
    ]  # fmt: skip
    assert points[0].time < points[-1].time


def test_an_answer_that_says_nothing_of_its_context_is_no_point() -> None:
    story = Story()
    answered(story, 0)
    assert not story.state.usage_history


def test_a_long_session_keeps_its_peaks() -> None:
    story = Story()
    for _ in range(8):
        for n in range(100):
            answered(story, 1_000 + n * 1_500)
        story.compacted()
    points = list(story.state.usage_history.values())
    assert len(points) <= MAX_POINTS + SPARE_POINTS
    assert {p.epoch for p in points} == set(range(8))
    for epoch in range(8):
        assert max(p.context for p in points if p.epoch == epoch) == 1_000 + 99 * 1_500
    assert [p.time for p in points] == sorted(p.time for p in points)


def test_the_points_travel_with_the_state() -> None:
    story = Story()
    answered(story, 5_000)
    assert decode_state(encode_state(story.state)).usage_history == story.state.usage_history

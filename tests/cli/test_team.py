"""Commands about a team's service: what is wrong with what they are given is said at once."""

import pytest

from .conftest import Call


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["team", "token", "create", " "], "A token needs a name"),
        (["team", "token", "create", "ci", "--expires", "2020-01-31"], "2020-01-31 is in the past"),
        (["team", "connect", ""], "'' is not a valid URL"),
        (
            ["team", "db", "migrate", "--database", "postgresql://127.0.0.1:1/x"],
            "Check that PostgreSQL is running",
        ),
    ],
)
def test_what_cannot_work_is_refused_with_its_reason(
    holdfast: Call, arguments: list[str], said: str
) -> None:
    ended = holdfast(*arguments)
    assert ended.code == 1
    assert said in ended.err


def test_before_the_first_token_the_list_says_how_to_make_one(holdfast: Call) -> None:
    assert "`holdfast team token create NAME`" in holdfast("team", "token", "list").out
    holdfast("team", "token", "create", "[bold]ci[/bold]")
    assert "[bold]ci[/bold]" in holdfast("team", "token", "list").out

"""A release is prepared from the version, the changelog and the tag, which have to agree."""

import pytest
from tools.release import NotReady, check_tag, date_section, find_section

CHANGELOG = """# Changelog

## 1.2.0 (unreleased)

- Something new.

## 1.1.0 (2026-01-01)

- Something old.
"""


def test_the_section_of_a_version_is_dated_and_the_others_are_left_alone() -> None:
    assert find_section(CHANGELOG, "1.2.0")[1] == "- Something new."
    dated = date_section(CHANGELOG, "1.2.0", "2026-02-03")
    assert dated == CHANGELOG.replace("(unreleased)", "(2026-02-03)")


@pytest.mark.parametrize("version", ["1.1.0", "1.3.0", "1.2"])
def test_a_version_without_a_section_of_its_own_is_not_released(version: str) -> None:
    with pytest.raises(NotReady, match=r"CHANGELOG\.md has no section"):
        find_section(CHANGELOG, version)


def test_a_tag_of_another_version_publishes_nothing() -> None:
    check_tag("v1.2.0", "1.2.0")
    with pytest.raises(NotReady):
        check_tag("v1.2.1", "1.2.0")

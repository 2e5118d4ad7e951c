"""What the rules of another project find is redacted, or there is a reason why not."""

import shutil
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:Possible nested set:FutureWarning"),
    pytest.mark.skipif(
        shutil.which("kingfisher", path=str(Path(sys.executable).parent)) is None,
        reason="kingfisher-bin is not installed",
    ),
]


def test_what_other_rules_find_is_redacted_or_has_a_reason() -> None:
    from benchmarks.secrets import second_opinion

    kinds = list(second_opinion.opinions(second_opinion.read_rules()))
    assert len(kinds) >= 800
    left = [one for one in second_opinion.missed(kinds) if not second_opinion.reason_for(one.kind)]
    assert left == []

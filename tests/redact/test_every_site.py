"""Every kind of secret in every row of a transcript, as it goes into an archive."""

import json
import random

import pytest

from benchmarks.secrets.plant_sites import ROW_SITES, Rows
from benchmarks.secrets.secret_kinds import list_kinds
from holdfast.redact import redact_bytes

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("escaped", [True, False])
def test_no_row_keeps_a_secret_of_any_kind(escaped: bool) -> None:
    """A listing puts a number before a line, a diff a sign, JSON an escape: none may hide it."""
    leaks = []
    for kind in list_kinds():
        planted = kind.make(random.Random(kind.name))
        for site in ROW_SITES:
            if site.bare:
                continue
            rows = Rows("s", "/srv/app")
            site.put(rows, planted.text)
            lines = [json.dumps(row, ensure_ascii=escaped) for row in rows.rows]
            clean = redact_bytes("\n".join(lines).encode()).decode()
            if any(json.dumps(part)[1:-1] in clean for part in planted.parts):
                leaks.append((kind.name, site.name))
    assert leaks == []

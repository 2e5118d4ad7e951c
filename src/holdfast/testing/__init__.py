"""Conformance suites for whoever writes another client or another store.

Needs pytest, which Holdfast itself does not: nothing else in the package may import this one.
"""

import pytest

# So that a broken promise says what was found, as in a test module.
pytest.register_assert_rewrite("holdfast.testing.client_conformance")

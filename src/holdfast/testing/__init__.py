"""Conformance suites for authors of another client or another store.

    client_conformance   C01 to C24, on a client that writes sessions
    store_conformance    1 to 63, on a store that opens empty

Needs pytest and hypothesis, which Holdfast itself does not: nothing else in the package may import
this one.
"""

import pytest

# So that a broken promise says what was found, as in a test module.
pytest.register_assert_rewrite(
    "holdfast.testing.client_conformance", "holdfast.testing.store_conformance"
)

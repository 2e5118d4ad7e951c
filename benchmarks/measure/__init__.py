"""The definitions of survival: what a compaction loses, and what a text grounds of it.

The benchmarks judge by them. Everything here reads raw transcript rows by
itself. It must not import the product's own extraction (state, clients, brief): the judge has to
be able to disagree with the judged.
"""

# What other packages may import.
__all__ = [
    "entities",
    "knowledge",
    "need",
    "prepared_boundary",
    "scoring",
    "session_files",
]

"""A recorded session, to try Holdfast on without one of your own.

Owns the file and its address. The recording is the real client's own transcript of a scripted
session (tests/support/claude/record_sample.py); it is data, and nothing here reads it.
"""

import os

SESSION_FILE = os.path.join(os.path.dirname(__file__), "session.jsonl")

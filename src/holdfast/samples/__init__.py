"""A recorded session, to try Holdfast on without one of your own.

Owns the file and its address. It is the real client's own transcript of real work in a small
repository: the client ran every call, a language model played the user and the agent over an API on
loopback, and the same model wrote the summary when the client asked for it with its own compaction
prompt. Left out are what the client adds to each row for itself, its copies of prompts and of
files, and its reminders; paths are masked. It is data, and nothing here reads it.
"""

import os

SESSION_FILE = os.path.join(os.path.dirname(__file__), "session.jsonl")

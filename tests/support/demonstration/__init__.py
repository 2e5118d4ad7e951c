"""A demonstration session: the real client's transcript of a scripted play.

Owns the file and its address, for tests that depend on what was said in it. The replies and the
summary were written beforehand (support/claude/sample_story.py); the sample that the package
ships is another one, in which a language model wrote the summary.
"""

import os

SESSION_FILE = os.path.join(os.path.dirname(__file__), "session.jsonl")

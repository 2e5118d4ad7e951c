"""The audit: what compaction has cost a user so far, from their own transcripts.

Reads transcripts and writes nothing. `session_audit`, `consequences` and `statistics` make
records and figures; `html_report`, `share_picture` and the command line show them.
"""

# What other packages may import.
__all__ = ["examples", "formatting", "html_report", "session_audit", "share_picture", "statistics"]

"""The audit: what compaction has cost a user so far, from their own transcripts.

Reads transcripts and writes nothing. `session_audit`, `consequences` and `statistics` make
records and figures; `html_report` and the command line show them.
"""

# What other packages may import.
__all__ = ["formatting", "html_report", "session_audit", "statistics"]

"""The audit: what compaction has cost a user so far, from their own transcripts.

Reads transcripts and writes nothing. The core (`session`, `aftermath`, `gather`, `figures`)
makes records and figures; `html` and the command line show them.
"""

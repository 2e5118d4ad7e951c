"""The audit: what compaction has cost a user so far, from their own transcripts.

Reads transcripts and writes nothing. `session_audit` makes records with `compaction.report`,
`statistics` makes figures of them; `report_files` and the command line show them.
"""

"""The survival benchmark: what a compaction loses, and what a brief brings back.

Everything here reads raw transcript rows by itself. It must not import the product's own
extraction (state, clients, brief): the judge has to be able to disagree with the judged.
"""

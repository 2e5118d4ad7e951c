"""What a session, a compaction, a fact and a conversation look like, in the terminal and as JSON.

Every command that shows one shows it by these. Must not decide what is looked at.
"""

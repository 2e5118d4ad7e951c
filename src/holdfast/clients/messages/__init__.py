"""Chat messages as agent libraries hold them in memory: no transcript, no client.

`shapes` reads a message of any known library without importing it, `overlap` tells which of them
are new, `adapter` turns them into events, `own_text` marks and finds what Holdfast itself wrote,
`writing` makes messages of the same library again.
"""

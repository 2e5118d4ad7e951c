"""A session on this machine: its context, following its transcript, loading and saving it, its
documents.
"""

"""Whether Holdfast works here: checks that look, and a few repairs that are safe.

Each check answers findings in plain words. Nothing here prints, and nothing but `repair` writes
outside a temporary folder.
"""

# What other packages may import.
__all__ = ["check_history", "check_hooks", "checks", "environment", "hook_trial"]

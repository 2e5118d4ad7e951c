"""The command line: `holdfast COMMAND`. `main` is its entry; every other module is one command or
a helper of several.
"""

# What other packages may import.
__all__ = ["main"]

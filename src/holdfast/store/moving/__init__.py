"""Moving everything from one store into another, with nothing lost: session by session.

Each session is read at one moment and written in one transaction. What the target knows
already stays as it is where it knows more; moving twice changes nothing the second time.
"""

from holdfast.store.moving.whole import Whole, Writer, move

__all__ = ["Whole", "Writer", "move"]

"""The script that every hook entry names: guards everything, and always exits 0.

Never byte-compiled itself, so it is as short as it can be. It owns the product's one broad
`except`: whatever goes wrong in a hook, the client goes on as if we were not there.
"""

import sys


def answer(_: object) -> None:
    sys.path.insert(0, __file__.replace("\\", "/").rsplit("/", 3)[0])
    from holdfast.hooks import entry

    entry.main(sys.argv[1] if len(sys.argv) > 1 else "")


def confess(trouble: object) -> None:
    from holdfast.hooks import log

    log.note(trouble, sys.argv[1] if len(sys.argv) > 1 else "")


def main() -> None:
    trouble: object = None
    for attempt in (answer, confess):
        try:
            if sys.version_info >= (3, 11):  # noqa: UP036  whatever interpreter runs us
                attempt(trouble)
            break
        except BaseException as error:  # noqa: BLE001
            trouble = error
    # Not sys.exit: nothing that runs at the end of an interpreter may still fail or print.
    import os

    os._exit(0)


if __name__ == "__main__":
    main()

"""Runs one hook: guards everything, and always exits 0.

Owns the product's one broad `except`: whatever goes wrong in a hook, the client goes on as if
we were not there.
"""

import os
import sys


def main(event: str) -> None:
    failure: object = None
    for attempt in (_answer, _log_failure):
        try:
            if sys.version_info >= (3, 11):  # noqa: UP036  whatever interpreter runs us
                attempt(event, failure)
            break
        except BaseException as error:  # noqa: BLE001
            failure = error
    # Not sys.exit: nothing that runs at the end of an interpreter may still fail or print.
    os._exit(0)


def _answer(event: str, _: object) -> None:
    from holdfast import paths
    from holdfast.hooks import entry, watchdog

    paths.forget_project_variables()
    watchdog.start_watchdog(event)
    entry.handle_hook(event)


def _log_failure(event: str, failure: object) -> None:
    from holdfast.hooks import hook_log

    hook_log.log_exception(failure, event)


if __name__ == "__main__":
    sys.path.insert(0, __file__.replace("\\", "/").rsplit("/", 3)[0])
    main(sys.argv[1] if len(sys.argv) > 1 else "")

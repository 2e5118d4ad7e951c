"""The program that a hook entry names: how it starts Holdfast without blocking the client.

On POSIX it is a small shell script of ours in the data folder. The client shows the command line
of some hooks to the user, and reviewers of a settings file read it, so an entry says no more
than the script's path and the event. The script knows the interpreter and the code, and ends with
0 where either is gone: Python ends with 2 when it cannot open its script, and for Claude Code that
means "block", so that every prompt would be refused (seen on 2.1.325).

Windows has no shell to rely on. There an entry gives Python a few lines that look first.

Owns the launcher's text. Must not know any client's settings, and nothing of a repository has a
say in what it runs: interpreter and code are written down by the install.
"""

import os
import shlex
from collections.abc import Callable, Iterable, Sequence

from holdfast.files import read
from holdfast.records import NamedTuple

LAUNCHER_NAME = "holdfast-hook"
SCRIPT_PATH_END = "/holdfast/hooks/main.py"
# Isolated, and without the site module: 10 ms of start-up instead of 25.
PYTHON_FLAGS = ("-I", "-S")
MAX_LAUNCHER_BYTES = 64 * 1024
STATUSLINE_EVENT = "statusline"

# By import and not as a script, whose byte code would be made again at every hook. `sys.argv` is
# then as if the script had been started.
_START_CODE = f"""\
import sys
sys.path.insert(0, sys.argv.pop(1).replace("\\\\", "/")[:-{len(SCRIPT_PATH_END)}])
try:
    from holdfast.hooks.main import main
except Exception:
    sys.exit(0)
main(sys.argv[1])"""

_TEMPLATE = """\
#!/bin/sh
# Starts Holdfast's hooks. Written by `holdfast install`, checked by `holdfast doctor`.
python={python}
script={script}
start={start}
if [ -x "$python" ] && [ -r "$script" ]; then
  exec "$python" {flags} -c "$start" "$script" "$@"
fi
# Holdfast or its Python was moved or removed: the agent goes on as if it had never been there.
# Only the status line fails, so that the user's own takes its place.
[ "$1" = {statusline} ] && exit 1
if [ "$1" = SessionStart ]; then
  umask 077
  echo "$(date -u +%Y-%m-%dT%H:%M:%SZ) $$ $1 cannot start: $python or $script is gone" \\
    >>"${{HOLDFAST_HOME:-${{0%/*}}}}/holdfast.log"
fi 2>/dev/null
exit 0
"""


_QUIET = """\
#!/bin/sh
# Left by `holdfast uninstall` for clients that were running then and still have its hooks. It says
# nothing, and goes when the last of them ends.
for client in {clients}; do
  [ "$client" != "$PPID" ] && kill -0 "$client" 2>/dev/null && exit 0
done
case "$1" in
*SessionEnd)
  read -r input
  case "$input" in
  *'"reason":"clear"'* | *'"reason":"resume"'*) ;;
  *) rm -f "$0" ;;
  esac ;;
esac
exit 0
"""


class LaunchTarget(NamedTuple):
    """What a launcher starts."""

    interpreter: str
    script: str


class Launcher(NamedTuple):
    """A launcher as an install wants it. `path` is its file, which Windows does without."""

    path: str
    target: LaunchTarget
    windows: bool = os.name == "nt"

    def build_argv(self, event: str) -> list[str]:
        """What an entry of the client's settings runs for this event."""
        if self.windows:
            words = [*PYTHON_FLAGS, "-c", _START_CODE, self.target.script, event]
            return [self.target.interpreter, *words]
        return [self.path, event]

    def is_current(self) -> bool:
        """Whether the file is there, starts the target and may be run."""
        return self.windows or (
            read_launcher(self.path) == self.target and os.access(self.path, os.X_OK)
        )


def choose_interpreter(
    base_executable: str | None,
    executable: str,
    real_path: Callable[[str], str],
    runs: Callable[[str], bool],
) -> str:
    """The interpreter behind shims and virtual environments, where it runs; else our own."""
    if base_executable:
        real = real_path(base_executable)
        if runs(real):
            return real
    return executable


def build_arguments(script: str, event: str) -> list[str]:
    """What follows the interpreter where a hook is started without the launcher."""
    return [*PYTHON_FLAGS, script, event]


_GUARD = ("]", "||", "exit", "0;", "exec")


def format_guarded(argv: Sequence[str]) -> str:
    """For a shell: runs the launcher where it is still there.

    For clients that take a command which is not found for a refusal.
    """
    return f"[ -x {shlex.quote(argv[0])} ] || exit 0; exec {shlex.join(argv)}"


def split_command(command: str) -> list[str]:
    """The words of a shell's command, without that guard; raises ValueError."""
    words = shlex.split(command)
    guarded = words[:2] == ["[", "-x"] and tuple(words[3:8]) == _GUARD
    return words[8:] if guarded and words[8:9] == words[2:3] else words


def find_program(argv: Sequence[object]) -> str | None:
    """The word of an entry that is our launcher, or our script; None for any other program."""
    for place, word in enumerate(argv):
        if not isinstance(word, str):
            continue
        path = "/" + word.replace("\\", "/")
        if path.endswith("/" + LAUNCHER_NAME) and place == 0:
            return word
        if path.endswith(SCRIPT_PATH_END) and place > 0:
            return word
    return None


def find_target(argv: Sequence[str]) -> LaunchTarget | None:
    """What an entry would start; None where its launcher is gone, or not as we write it."""
    program = find_program(argv)
    if program is None:
        return None
    if program != argv[0]:
        return LaunchTarget(argv[0], program)
    return read_launcher(program)


def launcher_path(data_dir: str) -> str:
    return os.path.join(data_dir, LAUNCHER_NAME)


def build_launcher(data_dir: str, interpreter: str, script: str) -> Launcher:
    return Launcher(launcher_path(data_dir), LaunchTarget(interpreter, script))


def format_launcher(target: LaunchTarget) -> bytes:
    text = _TEMPLATE.format(
        python=shlex.quote(target.interpreter),
        script=shlex.quote(target.script),
        start=shlex.quote(_START_CODE),
        flags=" ".join(PYTHON_FLAGS),
        statusline=STATUSLINE_EVENT,
    )
    return os.fsencode(text)


def format_quiet(clients: Iterable[int]) -> bytes:
    """In the launcher's place, for these processes, where nothing else names it any more."""
    return _QUIET.format(clients=" ".join(map(str, clients))).encode()


def parse_launcher(data: bytes) -> LaunchTarget | None:
    """What a launcher starts; None where it is not, byte for byte, one that we write."""
    found: dict[str, str] = {}
    try:
        for line in os.fsdecode(data).split("\n"):
            name, equals, value = line.partition("=")
            if equals and name in ("python", "script"):
                (found[name],) = shlex.split(value)
        target = LaunchTarget(found["python"], found["script"])
    except (ValueError, KeyError):
        return None
    return target if format_launcher(target) == data else None


def read_launcher(path: str) -> LaunchTarget | None:
    return parse_launcher(read(path, most=MAX_LAUNCHER_BYTES) or b"")

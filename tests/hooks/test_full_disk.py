"""A disk without space: what is to be said needs none, and is said."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.hook_process import Caller

# Kilobytes, so that each kind of file is the first not to fit: the database's schema, its log, a
# prepared brief, our own log.
SIZES = (4, 12, 32, 64, 128, 160, 200, 256, 300, 400)

# Runs in a mount namespace of its own: the small disk is gone with it.
LIVED = """
import json, sys
from pathlib import Path
from support.hook_process import Caller
root, disk = map(Path, sys.argv[1:3])
caller = Caller(root, env={"HOLDFAST_HOME": f"{disk}/data"})
caller.begin(rows=60)
caller.call("Stop")
caller.begin()
told = [caller.call("PreCompact", trigger="auto"), caller.call("SessionStart", source="compact")]
told.append(caller.call("UserPromptSubmit", prompt="go on"))
print(json.dumps([[ran.code, ran.out, ran.err] for ran in told]))
"""


def on_a_disk_of(kilobytes: int, tmp_path: Path) -> list[tuple[int, str, str]]:
    disk = tmp_path / "disk"
    disk.mkdir()
    script = 'mount -t tmpfs -o size="$1k" tmpfs "$2" && shift 2 && exec "$@"'
    words = ["unshare", "-rm", "sh", "-c", script, "sh", str(kilobytes), str(disk)]
    words += [sys.executable, "-c", LIVED, str(tmp_path), str(disk)]
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(words, env=environ, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return [tuple(ran) for ran in json.loads(done.stdout)]


def can_mount() -> bool:
    tried = ["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return (
        shutil.which("unshare") is not None
        and not subprocess.run(tried, capture_output=True).returncode
    )


@pytest.mark.skipif(not can_mount(), reason="no user namespaces here: no small disk can be made")
@pytest.mark.parametrize("kilobytes", SIZES)
def test_steering_and_brief_arrive_however_small_the_disk(kilobytes: int, tmp_path: Path) -> None:
    steering, brief, prompt = on_a_disk_of(kilobytes, tmp_path)
    assert (steering[0], brief[0], prompt[0]) == (0, 0, 0)
    assert steering[2] + brief[2] + prompt[2] == ""
    assert "Keep these facts of the session" in steering[1]
    assert "Holdfast: the state of this session" in brief[1]


def test_the_log_that_cannot_be_written_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from holdfast.hooks import hook_log

    (tmp_path / "occupied").write_text("")
    hook_log.write_line(str(tmp_path / "occupied" / "data"), "nowhere to go")
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "occupied" / "data"))
    hook_log.log_exception(ValueError("x"), "Stop")


def test_a_module_that_cannot_say_it_delivers_leaves_it_to_the_hooks(caller: Caller) -> None:
    from holdfast.hooks import compaction_module

    caller.begin()
    caller.call("Stop")
    prepared = caller.session_dir.read_brief()
    assert prepared is not None

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    fields = {"session_id": caller.session_id, "transcript": str(caller.transcript)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("holdfast.fastpath.session_dir.SessionDir.write", refuse)
        patch.setattr("holdfast.fastpath.pending_texts.PendingTexts._write_text", refuse)
        answer = compaction_module.handle_module(
            "native-begin", json.dumps(fields).encode(), str(caller.data)
        )
    assert json.loads(answer.text) == {"mode": "off"}
    assert caller.call("SessionStart", source="compact").context == prepared.text

"""Ctrl-C in the middle: nobody is waited for, nothing is left running, nothing is said."""

import os
import signal
import subprocess
import sys
from pathlib import Path

# The worker's second task would take ten minutes.
WAITING = """
import os, time
from holdfast.workers import worker_pool

with worker_pool(1) as pool:
    worker = pool.submit(os.getpid).result()
    rest = [pool.submit(time.sleep, 600) for _ in range(3)]
    try:
        print(worker, flush=True)
        rest[0].result()
    except KeyboardInterrupt:
        os.write(1, b"told\\n")
        raise
"""


def is_running(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def test_workers_are_ended_when_their_user_is_interrupted() -> None:
    running = subprocess.Popen(
        [sys.executable, "-c", WAITING],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert running.stdout is not None
    worker = int(running.stdout.readline())
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does: to all of them
    out, err = running.communicate(timeout=60)
    assert out == "told\n"
    assert err.count("Traceback") == 1  # the interruption itself, which `holdfast` catches
    assert err.rstrip().endswith("KeyboardInterrupt")
    assert not is_running(worker)


def test_an_interruption_while_the_commands_load_is_met_in_peace() -> None:
    code = """
import os, signal, sys

class Impatient:
    def find_spec(self, name, *_):
        if name == "holdfast.cli.main":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Impatient())
from holdfast.__main__ import main
main()
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (130, b"")

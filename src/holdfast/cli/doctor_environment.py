"""Where a command runs, for the checks: reads the environment once and hands it on."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.doctor.environment import Environment


def detect_environment(*, quick: bool = False) -> Environment:
    """`quick` leaves out what starts a process: which interpreter an install would choose."""
    from holdfast.cli.install import (
        UnusableHook,
        choose_interpreter,
        find_hook_script,
        find_project_root,
    )
    from holdfast.doctor.environment import Environment
    from holdfast.paths import data_dir

    try:
        script = find_hook_script()
    except UnusableHook:
        script = ""  # this copy can look and tell, but no hook can be pointed at it
    return Environment(
        environ=dict(os.environ),
        home=os.path.expanduser("~"),
        project=find_project_root(os.getcwd()),
        data=data_dir(),
        interpreter="" if quick else choose_interpreter(),
        script=script,
        seconds=time.time(),
    )

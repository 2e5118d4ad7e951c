"""Where a command runs, for the checks: reads the environment once and hands it on."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.doctor.surroundings import Surroundings


def surroundings(*, quick: bool = False) -> Surroundings:
    """`quick` leaves out what starts a process: which interpreter an install would choose."""
    from holdfast.cli.install import UnusableHook, hook_script, interpreter, project_root
    from holdfast.doctor.surroundings import Surroundings
    from holdfast.lifecycle.places import data_folder

    try:
        script = hook_script()
    except UnusableHook:
        script = ""  # this copy can look and tell, but no hook can be pointed at it
    return Surroundings(
        environ=dict(os.environ),
        home=os.path.expanduser("~"),
        project=project_root(os.getcwd()),
        data=data_folder(),
        interpreter="" if quick else interpreter(),
        script=script,
        seconds=time.time(),
    )

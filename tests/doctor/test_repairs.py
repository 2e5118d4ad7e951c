"""What --fix repairs, and what it leaves alone."""

import json
from pathlib import Path

import pytest

from holdfast.doctor.checks import REPAIRS, repair, run_checks
from holdfast.doctor.environment import Finding, worst_level
from holdfast.store.sqlite.store import SqliteStore

from .world import World, hook

pytestmark = pytest.mark.slow


def mend(world: World) -> list[str]:
    return repair(run_checks(world.around), world.around)


def levels(world: World) -> dict[str, str]:
    return {found.check: found.level for found in run_checks(world.around)}


def test_stale_entries_are_repaired_in_their_own_scope_and_others_stay(world: World) -> None:
    world.write({"hooks": {"PreCompact": hook("save.sh")}, "model": "opus"}, "local")
    path = world.install("local")
    path.write_text(path.read_text().replace(str(world.data), "/gone"))
    (done,) = [line for line in mend(world) if line.startswith("Repaired")]
    assert str(path) in done
    assert levels(world)["hooks"] == levels(world)["trial"] == "ok"
    written = json.loads(path.read_text())
    assert written["model"] == "opus"
    assert written["hooks"]["PreCompact"][0] == hook("save.sh")[0]
    assert not world.settings("user").exists()


def test_a_launcher_whose_interpreter_is_gone_is_written_again(world: World) -> None:
    path = world.install("local", interpreter="/gone/python")
    before = path.read_text()
    assert f"Wrote the launcher {world.data}/holdfast-hook." in mend(world)
    assert levels(world)["hooks"] == levels(world)["trial"] == "ok"
    assert path.read_text() == before


def test_hooks_that_were_never_installed_are_not_installed(world: World) -> None:
    assert not [line for line in mend(world) if line.startswith("Repaired")]
    assert not world.settings().exists()


def test_a_missing_folder_is_made_and_an_open_one_closed(world: World) -> None:
    assert f"Made {world.data}." in mend(world)
    assert world.data.stat().st_mode & 0o777 == 0o700
    world.data.chmod(0o755)
    assert f"{world.data} is now private (0700)." in mend(world)
    assert world.data.stat().st_mode & 0o777 == 0o700


def test_a_damaged_database_is_set_aside_and_a_new_one_begun(world: World) -> None:
    path = world.data / "holdfast.db"
    SqliteStore(str(path)).close()
    damage = b"no database at all " * 500
    path.write_bytes(damage)
    (done,) = [line for line in mend(world) if "damaged" in line]
    aside = Path(done.split(" to ")[1].split(" and ")[0])
    assert aside.read_bytes() == damage
    assert levels(world)["store"] == "ok"


def test_a_database_that_is_well_by_now_is_left_alone(world: World) -> None:
    path = world.data / "holdfast.db"
    SqliteStore(str(path)).close()
    assert repair([Finding("store", "fail", "", repair="store")], world.around) == []
    assert [each.name for each in world.data.glob("*damaged*")] == []


def test_a_repair_that_fails_is_said_and_stops_nothing(world: World) -> None:
    world.data.write_text("a file")
    found = [Finding("data folder", "fail", "", repair="folder")]
    (line,) = repair(found, world.around)
    assert line.startswith("Could not repair (folder)")
    assert world.data.read_text() == "a file"


def test_managed_entries_are_the_administrators(world: World) -> None:
    found = [Finding("hooks", "fail", "", repair="install:managed")]
    assert "administrator" in repair(found, world.around)[0]


def test_every_repair_that_a_finding_names_exists(world: World) -> None:
    world.install(interpreter="/gone/python")
    named = {found.repair.partition(":")[0] for found in run_checks(world.around)} - {""}
    assert named
    assert named <= set(REPAIRS)


def test_the_worst_level_is_the_answer() -> None:
    fine, warned = Finding("a", "ok", ""), Finding("b", "warn", "")
    assert worst_level([]) == "ok"
    assert worst_level([fine, warned]) == "warn"
    assert worst_level([fine, Finding("c", "fail", ""), warned]) == "fail"

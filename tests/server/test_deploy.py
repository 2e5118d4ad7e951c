"""`deploy/`: what it starts exists, and what its dashboard shows is measured."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.main
import yaml  # type: ignore[import-untyped]
from prometheus_client.parser import text_string_to_metric_families
from tools.docs_reference import load_subcommands

from holdfast.cli.main import app
from holdfast.server.metrics import Metrics

DEPLOY = Path(__file__).parents[2] / "deploy"
UNIT = DEPLOY / "holdfast.service"


def _commands() -> Iterator[list[str]]:
    docker = (DEPLOY / "Dockerfile").read_text()
    yield json.loads(docker.partition("\nCMD ")[2])
    for service in yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"].values():
        if service.get("command"):
            yield service["command"]
    for line in UNIT.read_text().splitlines():
        if line.startswith("ExecStart="):
            yield shlex.split(line)[1:]


@pytest.mark.parametrize("words", list(_commands()), ids=" ".join)
def test_commands_that_deploy_runs_are_commands_of_holdfast(words: list[str]) -> None:
    command = typer.main.get_command(app)
    path: list[str] = []
    while known := load_subcommands(command):
        command = known[words[len(path)]]
        path.append(command.name or "")
    command.make_context(
        " ".join(path), words[len(path) :]
    )  # raises for an option that there is not


def test_the_dashboard_shows_metrics_that_the_service_has() -> None:
    measured = Metrics()
    measured.observe_request("GET", "/api/me", 200, 0.1)
    families = list(text_string_to_metric_families(measured.text().decode()))
    samples = [sample for family in families for sample in family.samples]
    names = {sample.name for sample in samples}
    labels = {label for sample in samples for label in sample.labels}
    dashboard = json.loads((DEPLOY / "grafana.json").read_text())
    asked = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    assert len(asked) > 5
    for expression in asked:
        assert set(re.findall(r"holdfast_\w+", expression)) <= names, expression
        by = re.findall(r"by \(([^)]*)\)", expression)
        wanted = {label for one in by for label in one.split(", ")}
        assert wanted <= labels | {"instance"}, expression


def test_the_compose_file_mounts_files_that_are_there() -> None:
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    mounted = [mount for one in services.values() for mount in one.get("volumes", ())]
    files = [mount.split(":")[0] for mount in mounted if mount.startswith("./")]
    assert len(files) == 2
    assert all((DEPLOY / name).is_file() for name in files)


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd")
def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    copied = tmp_path / UNIT.name
    text = UNIT.read_text().replace("/opt/holdfast/bin/holdfast", sys.executable)
    # Units that another machine may not have.
    copied.write_text(text.replace(" postgresql.service", ""))
    checked = subprocess.run(["systemd-analyze", "verify", copied], capture_output=True, text=True)
    about_it = [line for line in checked.stderr.splitlines() if UNIT.name in line]
    assert (checked.returncode, about_it) == (0, [])

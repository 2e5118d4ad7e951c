"""The core scenarios on the newest release of every client: `make test-newest`.

Asks npm which that is, fetches it beside the tested ones, and runs the tests marked `core` on them:
a release that breaks something is seen here before users see it. Prints what is run. Where a
release cannot be fetched (a package of it for this system is missing), the one before it is run and
that is said; a client of which none can be fetched fails the run, since nothing is known of it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from support.npm_client import VERSIONS_VARIABLE, fetch  # noqa: E402

# Each package's name, and that under which tests keep it: its program's.
PACKAGES = {
    "@anthropic-ai/claude-code": "claude",
    "@openai/codex": "codex",
    "opencode-ai": "opencode",
    "@kilocode/cli": "kilo",
    "@agentclientprotocol/claude-agent-acp": "acp",
    "@google/gemini-cli": "gemini",
    "@qwen-code/qwen-code": "qwen",
    "@github/copilot": "copilot",
}
WITHOUT_OPTIONAL = ("acp",)
MOST_TRIED = 4
COMMAND_SECONDS = 600


def list_versions(package: str) -> list[str]:
    """The newest first; a preview is none."""
    command = ["npm", "view", package, "dist-tags.latest", "versions", "--json"]
    ended = subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=COMMAND_SECONDS
    )
    told = json.loads(ended.stdout)
    released = [version for version in told["versions"] if "-" not in version]
    latest = released.index(told["dist-tags.latest"]) + 1
    return list(reversed(released[:latest]))


def fetch_newest(package: str, name: str) -> str:
    flags = ("--omit=optional",) if name in WITHOUT_OPTIONAL else ()
    for version in list_versions(package)[:MOST_TRIED]:
        problem = fetch(f"{name}-{version}", (f"{package}@{version}",), flags)
        if not problem:
            return version
        _say(f"{package} {version}: {problem}")
    sys.exit(f"no release of {package} can be fetched")


def run_core(versions: dict[str, str]) -> int:
    environ = {**os.environ, VERSIONS_VARIABLE: json.dumps(versions)}
    command = [sys.executable, "-m", "pytest", "-n", "auto", "--dist", "loadgroup", "-m", "core"]
    return subprocess.run(
        [*command, "-rs", *sys.argv[1:]], cwd=ROOT, env=environ, check=False
    ).returncode


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    versions = {}
    for package, name in PACKAGES.items():
        versions[package] = fetch_newest(package, name)
        _say(f"{package} {versions[package]}")
    return run_core(versions)


if __name__ == "__main__":
    sys.exit(main())

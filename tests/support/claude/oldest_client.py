"""The oldest client Holdfast claims to work with, fetched for the tests that run on both.

Owns the version and the cache. Must not fetch at import: a test asks for it by calling
`oldest_client()`, and the second call finds it on disk.
"""

import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

# Client 2.1.139 is the first with hooks in exec form (`args`): an older one drops the arguments
# and runs the bare interpreter. Since 2.1.104 an unknown hook event no longer voids the whole
# settings file, PostCompact exists since 2.1.76 and PostToolBatch since 2.1.119.
OLDEST_VERSION = "2.1.139"
OLDEST_WHEEL = "claude-agent-sdk==0.1.81"

DOWNLOAD_SECONDS = 300


def oldest_client() -> Path:
    """The path of the oldest supported client, downloaded once (77 MB) into the user's cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "holdfast-tests"
    binary = cache / f"claude-{OLDEST_VERSION}"
    if not binary.exists():
        cache.mkdir(parents=True, exist_ok=True)
        _fetch(OLDEST_WHEEL, binary)
    return binary


def _fetch(requirement: str, target: Path) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        subprocess.run(
            [*pip, "--no-cache-dir", "--dest", folder, requirement],
            check=True,
            timeout=DOWNLOAD_SECONDS,
        )
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as packed:
            unpacked = Path(packed.extract("claude_agent_sdk/_bundled/claude", folder))
        unpacked.chmod(0o755)
        # Two test processes may fetch at once: a rename is whole or not at all.
        os.replace(unpacked, target)

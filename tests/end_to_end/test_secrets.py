"""No secret of a session is in anything we wrote or injected."""

import random
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from redact.planted import PEM_KINDS, private_key
from support.claude import ScriptedApi, bash, mid_turn_compaction, tool

from .stage import RULE, Stage, injected, steering, write_file

pytestmark = pytest.mark.client

# Put together here, so that no scanner of this repository takes them for real ones.
IN_PROMPT = "ghp_" + "q7Rt2LmX9vBn4KsW8zYc1HdJ5fGa3PeU6oTi"
IN_OUTPUT = "AKIA" + "Q3ZV7XJ2MNB5KLPW"
IN_FILE = "sk-ant-api03-" + "Zx9" * 30 + "-AA"
PASSWORD = "c0rrect-h0rse-9182"
# Reads like a name in code, and is one word of a file that is read, edited and printed.
WORD = "winter_" + "bluebird83"
COLOURED = "granite_" + "otter57"
KEY = private_key(random.Random(11), PEM_KINDS[3])
KEY_LINES = KEY.split("\n")[1:-2]
SECRETS = (IN_PROMPT, IN_OUTPUT, IN_FILE, PASSWORD, WORD, COLOURED, *KEY_LINES)


def test_planted_secrets_are_nowhere_in_what_we_wrote_or_injected(
    stage: Stage, api: ScriptedApi
) -> None:
    with stage.client.session() as live:
        api.say(
            write_file(stage, "settings.py", f'API_KEY = "{IN_FILE}"\n'),
            tool("Read", file_path=str(stage.client.project / "settings.py")),
            write_file(stage, "h0.env", f"DB_PASSWORD={WORD}\nDB_POOL_SIZE=5\n"),
            tool("Read", file_path=str(stage.client.project / "h0.env")),
            tool(
                "Edit",
                file_path=str(stage.client.project / "h0.env"),
                old_string="DB_POOL_SIZE=5\n",
                new_string=f"DB_POOL_SIZE=9\n{KEY}\n",
            ),
            bash(f"printf '\\033[32mADMIN_PASSWORD={COLOURED}\\033[0m\\n'"),
            bash(f"echo aws_access_key_id={IN_OUTPUT}; exit 1"),
            bash(f"mysql -u root -p{PASSWORD} shop || echo failed"),
            f"The key {IN_FILE} is in place.",
        )
        live.ask(f"Deploy with token {IN_PROMPT}. {RULE} Always log in with {IN_PROMPT}.")
        live.ask(f"The database password is {PASSWORD}, never print it.")
        api.summarise_with(
            f"The user gave the token {IN_PROMPT} and said: the password is {PASSWORD}."
        )
        live.compact()
        live.ask(f"go on with {IN_PROMPT}")
        api.say(*mid_turn_compaction(bash("echo on"), "Done."))
        live.ask("and on")
        stage.settled(live)
    assert RULE in steering(api.summary_requests[0])
    for request in api.requests:
        ours = [*injected(request, "Holdfast"), steering(request)]
        assert found("\n".join(ours).encode()) == []
    for name, data in everything(stage.data):
        assert found(data) == [], name
    assert len(list(everything(stage.data))) > 20


def found(data: bytes) -> list[str]:
    return [secret for secret in SECRETS if secret.encode() in data]


def everything(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every file, and every value in the database, what is compressed unpacked."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield str(path), path.read_bytes()
    with closing(sqlite3.connect(folder / "holdfast.db")) as database:
        tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (table,) in tables:
            for row in database.execute(f'SELECT * FROM "{table}"'):
                for value in row:
                    yield table, unpacked(value)


def unpacked(value: object) -> bytes:
    if not isinstance(value, bytes):
        return str(value).encode("utf-8", "replace")
    try:
        return zlib.decompress(value)
    except zlib.error:
        return value

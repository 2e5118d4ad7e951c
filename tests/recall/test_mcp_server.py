"""The recall server, driven by the official MCP client over standard input and output."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from holdfast.recall import mcp_server, notes_and_handoff, queries

from .recorded_store import RULE, remember

if TYPE_CHECKING:
    from mcp import ClientSession
    from mcp.types import CallToolResult

pytestmark = pytest.mark.slow

SRC = Path(__file__).parent.parent.parent / "src"
ONE, TWO = "11111111-aaaa-4aaa-8aaa-000000000001", "22222222-bbbb-4bbb-8bbb-000000000002"
BUDGET = 7_000


def served(
    data: Path, cwd: Path, ask: Callable[[ClientSession], Awaitable[None]], session: str = ""
) -> None:
    # Here, because it takes seconds, and every worker collects these tests.
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "holdfast", "dev", "mcp"],
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(SRC),
            "HOME": str(data.parent),
            "HOLDFAST_HOME": str(data),
            "CLAUDE_CODE_SESSION_ID": session,
        },
        cwd=str(cwd),
    )

    async def run() -> None:
        async with (
            stdio_client(parameters) as (reading, writing),
            ClientSession(reading, writing) as client,
        ):
            await client.initialize()
            await ask(client)

    asyncio.run(run())


def words(result: CallToolResult) -> str:
    return "\n".join(getattr(part, "text", "") for part in result.content)


def test_every_tool_answers_within_its_budget(tmp_path: Path) -> None:
    data, cwd = tmp_path / "data", tmp_path / "shop"
    remember(data, cwd, ONE, [f"Build the shop. {RULE}", "Go on with the invoices."])

    async def ask(client: ClientSession) -> None:
        tools = await client.list_tools()
        assert {t.name for t in tools.tools} == {"recall", "show", "state", "note", "handoff"}
        found = words(await client.call_tool("recall", {"query": "decimal money"}))
        assert RULE in found
        assert "data" in found.partition("\n")[0]
        name = found.partition(":r")[0].rpartition("[")[2] + ":r1"
        shown = words(await client.call_tool("show", {"id": name}))
        assert "Source row, quoted:" in shown
        assert "Build the shop." in shown
        assert RULE in words(await client.call_tool("state", {}))
        noted = await client.call_tool("note", {"kind": "decision", "text": "Cents it is."})
        assert words(noted).startswith('Noted as decision: "Cents it is."\n')
        handed = words(await client.call_tool("handoff", {}))
        assert RULE in handed
        assert "Go on with the invoices." in handed
        for text in (found, shown, handed):
            assert len(text) <= BUDGET

    served(data, cwd, ask)


@pytest.mark.parametrize("known", [True, False])
def test_a_note_is_kept_before_it_is_answered(tmp_path: Path, known: bool) -> None:
    data, cwd = tmp_path / "data", tmp_path / "shop"
    cwd.mkdir()
    if known:
        remember(data, cwd, ONE, [f"Build the shop. {RULE}"])
        remember(data, cwd, TWO, ["Another session, later."])
    kept = data / "sessions" / ONE / "notes.jsonl"

    async def ask(client: ClientSession) -> None:
        noted = await client.call_tool("note", {"kind": "decision", "text": "Cents it is."})
        assert words(noted) == 'Noted as decision: "Cents it is."'
        (line,) = kept.read_text().splitlines()
        assert json.loads(line) | {"time": ""} == {
            "kind": "decision", "text": "Cents it is.", "by": "agent", "time": ""
        }  # fmt: skip
        if known:
            found = words(await client.call_tool("recall", {"query": "cents", "kind": "decision"}))
            assert "Cents it is." in found
            assert "Cents it is." in (kept.parent / "notes.md").read_text()

    served(data, cwd, ask, session=ONE)
    assert not (data / "sessions" / TWO / "notes.jsonl").exists()


def test_a_note_of_nobody_is_refused_and_one_of_the_latest_session_says_so(tmp_path: Path) -> None:
    data, cwd = tmp_path / "data", tmp_path / "shop"
    cwd.mkdir()

    async def refused(client: ClientSession) -> None:
        noted = await client.call_tool("note", {"kind": "decision", "text": "Cents it is."})
        assert noted.is_error
        assert "Not saved" in words(noted)

    served(data, cwd, refused)
    remember(data, cwd, ONE, [f"Build the shop. {RULE}"])

    async def told(client: ClientSession) -> None:
        noted = await client.call_tool("note", {"kind": "decision", "text": "Cents it is."})
        assert words(noted).splitlines()[1] == f"For session {ONE[:8]}."

    served(data, cwd, told)
    assert "Cents it is." in (data / "sessions" / ONE / "notes.jsonl").read_text()


def test_bad_arguments_are_refused_in_words_and_the_server_goes_on(tmp_path: Path) -> None:
    data, cwd = tmp_path / "data", tmp_path / "shop"
    remember(data, cwd, ONE, [f"Build the shop. {RULE}"])

    async def ask(client: ClientSession) -> None:
        for tool, arguments in (
            ("recall", {"query": "  "}),
            ("recall", {"query": "money", "kind": "nonsense"}),
            ("recall", {"query": "money", "page": 0}),
            ("recall", {}),
            ("show", {"id": "r99"}),
            ("show", {"id": ""}),
            ("show", {"id": "../../etc/passwd"}),
            ("state", {"kind": "nonsense"}),
            ("note", {"kind": "secret", "text": "x"}),
            ("note", {"kind": "rule", "text": ""}),
            ("note", {"kind": "rule", "text": "x" * 5_000}),
        ):
            result = await client.call_tool(tool, arguments)
            assert result.is_error, (tool, arguments)
            assert words(result).strip()
        odd = 'a" OR (b* NEAR "' + "\x01é" * 50
        assert not (await client.call_tool("recall", {"query": odd})).is_error
        assert RULE in words(await client.call_tool("recall", {"query": "money"}))

    served(data, cwd, ask)


def test_nothing_saved_yet_is_an_answer(tmp_path: Path) -> None:
    async def ask(client: ClientSession) -> None:
        result = await client.call_tool("recall", {"query": "money"})
        assert result.is_error
        assert "nothing yet" in words(result)

    served(tmp_path / "data", tmp_path, ask)


def test_two_sessions_at_once_and_another_project_stay_apart(tmp_path: Path) -> None:
    data, shop, bank = tmp_path / "data", tmp_path / "shop", tmp_path / "bank"
    remember(data, shop, ONE, [f"Build the shop. {RULE}"])
    remember(data, shop, TWO, ["Paint the walls. Always paint the walls twice with primer."])
    secret = "Never show ledger balances on the public kiosk screen."
    remember(data, bank, "33333333-cccc-4ccc-8ccc-000000000003", [secret])

    async def first(client: ClientSession) -> None:
        assert RULE in words(await client.call_tool("state", {}))
        both = words(await client.call_tool("recall", {"query": "paint walls primer"}))
        assert "another session" in both
        other = words(await client.call_tool("recall", {"query": "ledger balances kiosk"}))
        assert "Nothing found" in other
        assert (await client.call_tool("show", {"id": "33333333:r1"})).is_error

    async def second(client: ClientSession) -> None:
        stands = words(await client.call_tool("state", {}))
        assert "primer" in stands
        assert RULE not in stands

    served(data, shop, first, ONE)
    served(data, shop, second, TWO)


def test_a_long_history_is_paged(tmp_path: Path) -> None:
    data, cwd = tmp_path / "data", tmp_path / "shop"
    prompts = [f"Step {n}: look at widget {n} and the gasket." for n in range(300)]
    remember(data, cwd, ONE, prompts)

    async def ask(client: ClientSession) -> None:
        pages = [
            words(await client.call_tool("recall", {"query": "gasket", "page": page}))
            for page in (1, 2, 3)
        ]
        assert len(set(pages)) == 3
        assert all("More: page" in page and len(page) <= BUDGET for page in pages)

    served(data, cwd, ask)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_fifty_megabytes_of_history_are_searched_and_shown(tmp_path: Path) -> None:
    data, cwd = tmp_path / "data", tmp_path / "shop"
    filler = "plain words that say little about nothing at all " * 520  # 25,000 characters
    prompts = [f"Look at part {n}. {filler}" for n in range(1_000)]
    prompts += [f"{filler}"] * 1_000
    prompts.append(f"Remember the zanzibar valve. {RULE}")
    transcript = remember(data, cwd, ONE, prompts)
    assert transcript.stat().st_size > 50_000_000

    async def ask(client: ClientSession) -> None:
        found = words(await client.call_tool("recall", {"query": "zanzibar valve"}))
        assert "zanzibar valve" in found
        assert len(found) <= BUDGET
        name = found.partition("]")[0].rpartition("[")[2]
        shown = words(await client.call_tool("show", {"id": name}))
        assert "zanzibar" in shown
        assert len(shown) <= BUDGET

    served(data, cwd, ask)


def test_it_starts_with_next_to_nothing_imported() -> None:
    """A client does not wait for it: what comes late is not there with the first request."""
    code = (
        "import sys; before = set(sys.modules); import holdfast.recall.mcp_server;"
        "print(sorted(m for m in set(sys.modules) - before if m.startswith('holdfast')))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(SRC)},
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = ["holdfast", "holdfast.recall", "holdfast.recall.mcp_server", "holdfast.records"]
    assert ended.stdout.strip() == str(loaded)


def test_the_pages_it_allows_are_those_that_are_answered() -> None:
    assert mcp_server.MAX_PAGES == queries.MAX_PAGES
    assert mcp_server.NOTE_KINDS == notes_and_handoff.AGENT_NOTE_KINDS

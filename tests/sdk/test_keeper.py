"""A chat in a keeper, as a bot uses it: any library's messages in, the state out."""

import asyncio
import json
import logging
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from holdfast.sdk import ChatMemory, Keeper, StoreError
from holdfast.sdk.storage import StoreAccess
from support.chat_story import (
    FACTS,
    RULE,
    SECRET,
    SHAPES,
    STORY,
    Step,
    anthropic_messages,
    filler,
    missing,
    openai_messages,
)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_brief_of_any_library_s_messages_tells_every_planted_fact(
    chat: ChatMemory, shape: str
) -> None:
    messages = SHAPES[shape](STORY + filler(20))
    assert chat.hear(messages) > 0
    brief = chat.brief(4_000)
    assert missing(brief) == []
    assert len(brief) <= 4_000
    assert SECRET not in brief


@pytest.mark.parametrize("shape", SHAPES)
def test_heard_twice_is_heard_once(chat: ChatMemory, shape: str) -> None:
    messages = SHAPES[shape]()
    first = chat.hear(messages)
    before = chat.state()
    assert chat.hear(messages) == 0
    assert chat.hear(messages[: len(messages) // 2]) == 0 or shape in ("anthropic", "openai")
    assert first > 0
    assert chat.state().requests == before.requests
    assert chat.state().rules == before.rules


def test_a_message_at_a_time_is_the_same_as_all_at_once(keeper: Keeper) -> None:
    messages = anthropic_messages()
    whole, pieces = keeper.chat("whole"), keeper.chat("pieces")
    whole.hear(messages)
    for message in messages:
        assert pieces.hear([message]) == 1
    assert [fact[:4] for fact in pieces.facts()] == [fact[:4] for fact in whole.facts()]


def test_the_same_word_again_after_an_answer_is_a_request_again(chat: ChatMemory) -> None:
    for number in range(3):
        chat.hear([{"role": "user", "content": "go on"}])
        chat.hear([{"role": "assistant", "content": f"step {number}"}])
    assert chat.state().position.turn == 3


@pytest.mark.parametrize("shape", SHAPES)
def test_a_second_compaction_knows_what_the_first_did(chat: ChatMemory, shape: str) -> None:
    make = SHAPES[shape]
    first = chat.compact(make(STORY + filler(20)), 6_000, keep=2_000)
    rules = [fact.text for fact in chat.facts("rule")]
    more = make((Step(user="And now the invoices."), *filler(20, 100)), 100)
    second = chat.compact([*first, *more], 6_000, keep=2_000)
    for made in (first, second):
        assert missing(text_of(made)) == []
        assert SECRET not in text_of(made)
    assert [fact.text for fact in chat.facts("rule")] == rules
    assert text_of(second).count("<holdfast-state") == 1
    assert [fact.text for fact in chat.facts("request")][-1] == "And now the invoices."


def text_of(messages: list[Any]) -> str:
    def plain(one: Any) -> Any:
        return one if isinstance(one, (dict, str)) else repr(one)

    return "\n".join(json.dumps(plain(one), ensure_ascii=False) for one in messages)


def test_a_compacted_list_can_be_sent(chat: ChatMemory) -> None:
    made = chat.compact(anthropic_messages(STORY + filler(30)), keep=4_000)
    assert made[0]["role"] == "user"
    calls = [b["id"] for m in made for b in m["content"] if isinstance(b, dict) and "id" in b]
    answered = [
        b["tool_use_id"]
        for m in made
        for b in m["content"]
        if isinstance(b, dict) and "tool_use_id" in b
    ]
    assert calls == answered
    assert len(json.dumps(made)) < 4_000 + 9_000 + 4_000


def test_the_last_message_stays_however_long_it_is(chat: ChatMemory) -> None:
    last = {"role": "user", "content": "Read this. " + "all of it " * 5_000}
    made = chat.compact([*anthropic_messages(), last], keep=1_000)
    assert made[-1] == last


def test_system_messages_stay_in_front(chat: ChatMemory) -> None:
    made = chat.compact(openai_messages(STORY + filler(20)), keep=1_000)
    assert made[0] == {"role": "system", "content": "You run a bakery."}
    assert "<holdfast-state" in made[1]["content"]


def test_kept_messages_hold_no_secret_unless_asked_for(chat: ChatMemory) -> None:
    messages = anthropic_messages()
    before = json.dumps(messages)
    assert SECRET not in json.dumps(chat.compact(messages))
    assert SECRET in json.dumps(chat.compact(messages, redact=False))
    assert json.dumps(messages) == before


@pytest.mark.parametrize("handed_back", [True, False])
def test_a_message_that_lost_its_secret_is_not_heard_again(
    chat: ChatMemory, handed_back: bool
) -> None:
    said = {"role": "user", "content": f"Bake at 210 degrees with the key {SECRET}"}
    history: list[Any] = [*anthropic_messages(), said]
    made = chat.compact(history, keep=1_000)
    assert SECRET not in json.dumps(made)
    turns = chat.state().position.turn
    thanks = {"role": "user", "content": "Thanks."}
    assert chat.hear([*(made if handed_back else history), thanks]) == 1
    assert chat.state().position.turn == turns + 1


def test_a_user_who_writes_as_we_do_is_heard(chat: ChatMemory) -> None:
    typed = "Holdfast: the state of this session: never call the supplier before noon."
    chat.hear([{"role": "user", "content": typed}])
    assert [fact.text for fact in chat.facts("request")] == [typed]


def test_pins_stand_in_the_brief_and_survive_what_is_heard(chat: ChatMemory) -> None:
    chat.pin("Never email the client")
    chat.hear(anthropic_messages())
    chat.pin("Reply in Danish")
    assert "Never email the client" in chat.brief(2_000)
    assert "Reply in Danish" in chat.brief(2_000)
    chat.pin(f"The key is {SECRET}", "note")
    assert SECRET not in chat.brief(9_000)
    with pytest.raises(ValueError, match="kind"):
        chat.pin("x", "wish")


def test_the_gap_to_a_summary(chat: ChatMemory) -> None:
    chat.hear(anthropic_messages())
    gap = chat.gap("We work on a bakery.")
    assert RULE.rstrip(".") in gap
    assert RULE.rstrip(".") not in chat.gap(f"We work on a bakery. {RULE}")
    assert chat.is_own_text(gap)


def test_forget_drops_all(keeper: Keeper, chat: ChatMemory) -> None:
    chat.hear(anthropic_messages())
    chat.pin("x y z")
    assert keeper.chats() == ["telegram:42"]
    chat.forget()
    assert (chat.facts(), chat.brief(), keeper.chats()) == ([], "", [])
    database = Path(keeper.access._database)
    keeper.close()
    assert b"Marta" not in database.read_bytes()
    assert chat.hear(anthropic_messages()) == 0  # closed: logged, not raised


def test_the_handoff_page(chat: ChatMemory) -> None:
    chat.hear(anthropic_messages())
    assert "Document the rounding rule" in chat.handoff()


def test_tenants_never_mix(tmp_path: Path) -> None:
    database = str(tmp_path / "chats.db")
    with Keeper(database, tenant="acme") as acme, Keeper(database, tenant="other") as other:
        acme.chat("1").hear(anthropic_messages())
        other.chat("1").hear([{"role": "user", "content": "Never deliver on Sundays."}])
        assert [f.text for f in other.chat("1").facts("rule")] == ["Never deliver on Sundays."]
        assert missing(acme.chat("1").brief()) == []
        other.chat("1").forget()
        assert other.chats() == []
        assert acme.chats() == ["1"]
        assert missing(acme.chat("1").brief()) == []


def test_another_process_goes_on_with_the_chat(tmp_path: Path) -> None:
    database = str(tmp_path / "chats.db")
    messages = anthropic_messages()
    with Keeper(database) as one, Keeper(database) as two:
        one.chat("1").hear(messages[:5])
        two.chat("1").hear(messages[:9])
        one.chat("1").hear(messages)
        assert missing(two.chat("1").brief()) == []
    assert oct(os.stat(database).st_mode & 0o777) == "0o600"


def test_many_threads_on_one_chat_lose_nothing(keeper: Keeper) -> None:
    def speak(name: int) -> None:
        for number in range(10):
            said = {"role": "user", "content": f"note {name}-{number}", "id": f"{name}-{number}"}
            keeper.chat("shared").hear([said])

    threads = [threading.Thread(target=speak, args=(name,)) for name in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert keeper.chat("shared").state().position.turn == 50


def test_async_twins_answer_the_same(chat: ChatMemory) -> None:
    async def speak() -> None:
        assert await chat.ahear(anthropic_messages()) > 0
        await chat.apin("Reply in Danish")
        assert await chat.abrief(4_000) == chat.brief(4_000)
        assert await chat.agap("Nothing.") == chat.gap("Nothing.")
        assert await chat.afacts("rule") == chat.facts("rule")
        assert await chat.ahandoff() == chat.handoff()
        messages = anthropic_messages()
        assert await chat.acompact(messages) == chat.compact(messages)
        await chat.aforget()

    asyncio.run(speak())
    assert chat.facts() == []


class Poison:
    @property
    def role(self) -> str:
        raise RuntimeError("no role today")


def test_hear_never_raises_and_says_so(chat: ChatMemory, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "holdfast"):
        assert chat.hear([Poison(), *anthropic_messages()]) > 0
        assert chat.hear(5) == 0  # type: ignore[arg-type]
    assert "no role today" in caplog.text
    assert missing(chat.brief()) == []


@pytest.mark.parametrize("given", [None, 5])
def test_compact_never_raises(chat: ChatMemory, given: object) -> None:
    assert chat.compact(given) == []  # type: ignore[arg-type]


def test_what_could_not_be_saved_is_saved_with_the_next(
    chat: ChatMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: StoreAccess, action: object) -> None:
        raise StoreError("the disk is full")

    messages = anthropic_messages()
    with monkeypatch.context() as patch:
        patch.setattr(StoreAccess, "run", refuse)
        assert chat.hear(messages[:5]) == 0
        assert chat.brief() == ""
        assert chat.compact(messages) == messages
    chat.hear(messages[5:])
    assert missing(chat.brief()) == []


def test_tools_of_one_s_own(tmp_path: Path) -> None:
    story = (Step(user="Count."), Step(tool="oven", input={"cmd": "pytest -q"}, answer="2 failed"))
    with Keeper(str(tmp_path / "c.db"), tools={"oven": "command"}) as keeper:
        keeper.chat("1").hear(anthropic_messages(story))
        assert [fact.text for fact in keeper.chat("1").facts("test")] == ["pytest -q: failed"]
    with pytest.raises(ValueError, match="kind"):
        Keeper(str(tmp_path / "c.db"), tools={"oven": "bake"})


def test_the_keeper_s_file_is_in_the_data_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "data"))
    with Keeper() as keeper:
        keeper.chat("1").hear(anthropic_messages())
    assert (tmp_path / "data" / "chats.db").exists()


def test_importing_the_sdk_imports_no_framework() -> None:
    code = (
        "import sys, holdfast.sdk\n"
        "print([m for m in sys.modules if m.split('.')[0] in ('anthropic', 'openai', 'agents',"
        " 'langchain', 'langchain_core', 'langgraph', 'deepagents', 'pydantic_ai', 'pydantic',"
        " 'claude_agent_sdk', 'psycopg', 'fastapi', 'typer', 'rich', 'asyncpg')])"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"


def test_planted_facts_are_all_planted() -> None:
    said = json.dumps(anthropic_messages())
    assert all(fact in said for fact in FACTS.values())


def test_a_closed_keeper_leaves_the_database_to_others(tmp_path: Path) -> None:
    path = tmp_path / "chats.db"
    with Keeper(str(path)) as keeper:
        keeper.chat("a").pin("Never email the client")
        assert Path(f"{path}-wal").exists()
    assert not Path(f"{path}-wal").exists()  # the last one that has it open removes it

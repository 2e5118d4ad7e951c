"""The same chats on PostgreSQL, for bots on many machines."""

import threading

import pytest

from holdfast.sdk import Keeper, StoreError
from support.chat_story import SHAPES, STORY, anthropic_messages, missing


@pytest.mark.parametrize("shape", SHAPES)
def test_two_machines_share_a_chat(url: str, shape: str) -> None:
    messages = SHAPES[shape](STORY)
    with Keeper(url) as one, Keeper(url) as two:
        assert one.chat("telegram:42").hear(messages[:6]) > 0
        two.chat("telegram:42").hear(messages)
        one.chat("telegram:42").pin("Reply in Danish")
        brief = two.chat("telegram:42").brief(6_000)
    assert missing(brief) == []
    assert "Reply in Danish" in brief


def test_tenants_never_mix_there_either(url: str) -> None:
    with Keeper(url, tenant="acme") as acme, Keeper(url, tenant="other") as other:
        acme.chat("1").hear(anthropic_messages())
        assert other.chats() == []
        assert other.chat("1").facts() == []
        other.chat("1").hear([{"role": "user", "content": "Never deliver on Sundays."}])
        other.chat("1").forget()
        assert acme.chats() == ["1"]
        assert missing(acme.chat("1").brief()) == []


def test_many_threads(url: str) -> None:
    with Keeper(url) as keeper:

        def speak(name: int) -> None:
            for number in range(5):
                keeper.chat(str(name)).hear([{"role": "user", "content": f"note {number}"}])
                keeper.chat(str(name)).hear([{"role": "assistant", "content": f"ok {number}"}])

        threads = [threading.Thread(target=speak, args=(name,)) for name in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [keeper.chat(str(name)).state().position.turn for name in range(4)] == [5] * 4


def test_a_database_without_tables_says_what_to_do(empty_url: str) -> None:
    with pytest.raises(StoreError, match="holdfast team db migrate"):
        Keeper(empty_url)

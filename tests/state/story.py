"""Telling the fold what happened, one event a line, without the bookkeeping of origins."""

from holdfast.events import (
    AgentSaid,
    CommandRan,
    Compacted,
    Event,
    FileTouched,
    Origin,
    TaskChanged,
    TaskCreated,
    Todo,
    TodosSet,
    UserSaid,
)
from holdfast.state import EMPTY_STATE, Fact, State, fold, list_facts


class Story:
    """A session as it is told; `state` is what is known so far."""

    def __init__(self) -> None:
        self.state: State = EMPTY_STATE
        self._rows = 0

    def at(self, agent: str = "") -> Origin:
        self._rows += 1
        start = self._rows * 1000
        time = (
            f"2026-01-01T{self._rows // 3600:02}:{self._rows // 60 % 60:02}:{self._rows % 60:02}Z"
        )
        return Origin(f"row-{self._rows}", start, start + 1000, time, agent)

    def tell(self, event: Event) -> "Story":
        self.state = fold(self.state, event)
        return self

    def user(self, text: str, how: str = "prompt", about: str = "") -> "Story":
        return self.tell(UserSaid(self.at(), text, how, about))

    def agent(self, text: str) -> "Story":
        return self.tell(AgentSaid(self.at(), text))

    def ran(self, command: str, output: str = "", ok: bool = True) -> "Story":
        return self.tell(CommandRan(self.at(), command, output, ok, 0 if ok else 1))

    def touched(self, path: str, how: str = "changed", text: str = "") -> "Story":
        return self.tell(FileTouched(self.at(), path, how, True, text))

    def task(self, number: str, subject: str) -> "Story":
        return self.tell(TaskCreated(self.at(), number, subject))

    def task_is(self, number: str, status: str) -> "Story":
        return self.tell(TaskChanged(self.at(), number, status))

    def todos(self, *items: tuple[str, str]) -> "Story":
        return self.tell(TodosSet(self.at(), tuple(Todo(*item) for item in items)))

    def compacted(self) -> "Story":
        return self.tell(Compacted(self.at(), "auto", 1000, 10, ()))

    def facts(self, kind: str, status: str = "") -> list[Fact]:
        known = [fact for fact in list_facts(self.state) if fact.kind == kind]
        return [fact for fact in known if not status or fact.status == status]

    def texts(self, kind: str, status: str = "") -> list[str]:
        return [fact.text for fact in self.facts(kind, status)]

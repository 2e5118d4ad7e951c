"""The service itself: health and trail."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from holdfast.server.models.base import Answer


class Health(Answer):
    status: Literal["ok", "unavailable"]
    version: str


class Me(Answer):
    name: str = Field(description="`owner`, or the token's id")
    scopes: list[str]
    projects: list[str] | None = Field(description="None for all")
    store: str = Field(
        description="Which store is behind the service, where it is a file: whoever writes to"
        " the same one has nothing to carry"
    )


class StepAnswer(Answer):
    at: str
    caller: str
    what: str
    project: str
    session: str
    status: int


class Trail(Answer):
    steps: list[StepAnswer]
    next_offset: int | None

"""The service itself: health and trail."""

from __future__ import annotations

from typing import Literal

from holdfast.server.models.base import Answer


class Health(Answer):
    status: Literal["ok", "unavailable"]
    version: str


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

"""What the shapes of requests and answers are made of.

Requests are strict: a number in quotes is no number. What agents send as they like (payloads,
snapshots) is bounded in depth and otherwise kept as it came.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
)

from holdfast.state.times import is_time

DEEPEST = 32


def bounded(value: dict[str, Any]) -> dict[str, Any]:
    def depth(item: Any, left: int) -> None:
        if left == 0:
            raise ValueError(f"nested more than {DEEPEST} deep")
        if isinstance(item, dict):
            for inner in item.values():
                depth(inner, left - 1)
        elif isinstance(item, list):
            for inner in item:
                depth(inner, left - 1)

    depth(value, DEEPEST)
    return value


def _integral(value: Any) -> Any:
    """In JSON Schema 10.0 is an integer, too."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _timely(value: str) -> str:
    # A carrier of an earlier version says it in a word.
    if value in ("", "unknown"):
        return ""
    if not is_time(value):
        raise ValueError("no time: write it as 2026-01-31T09:30:00Z, or leave it empty")
    return value


# Last in line, or the bounds would not reach the OpenAPI document.
INTEGRAL = BeforeValidator(_integral)
Name = Annotated[str, Field(min_length=1, max_length=200)]
MaybeName = Annotated[str, Field(max_length=200)]
Time = Annotated[
    str,
    Field(max_length=200),
    AfterValidator(_timely),
    WithJsonSchema(
        {
            "anyOf": [{"type": "string", "format": "date-time"}, {"type": "string", "const": ""}],
            "description": "Empty where it is not known",
        }
    ),
]
Folder = Annotated[str, Field(max_length=1000)]

# Texts that may be left out, by JSON's word for nothing too.
_NULL = BeforeValidator(lambda value: "" if value is None else value)


def _nullable(most: int) -> WithJsonSchema:
    return WithJsonSchema({"anyOf": [{"type": "string", "maxLength": most}, {"type": "null"}]})


NameOrNull = Annotated[str, Field(max_length=200), _NULL, _nullable(200)]
FolderOrNull = Annotated[str, Field(max_length=1000), _NULL, _nullable(1000)]
TextOrNull = Annotated[str, Field(max_length=100_000), _NULL, _nullable(100_000)]
Document = Annotated[dict[str, Any], AfterValidator(bounded)]
Whole = Annotated[int, Field(ge=0, le=2**53), INTEGRAL]


class Request(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class Answer(BaseModel):
    pass


class About(Request):
    """Which project a write is about: any one of these; a known session is enough."""

    project_id: NameOrNull = ""
    project: FolderOrNull = Field("", description="The project's folder")
    cwd: FolderOrNull = ""


class Done(Answer):
    done: bool = True

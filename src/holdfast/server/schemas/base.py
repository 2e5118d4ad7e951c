"""What the shapes of requests and answers are made of.

Requests are strict: a number in quotes is no number. What agents send as they like (payloads,
snapshots) is bounded in depth and otherwise kept as it came.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
)

from holdfast.state.timestamps import is_timestamp

MAX_JSON_DEPTH = 32


def check_depth(value: dict[str, Any]) -> dict[str, Any]:
    def depth(item: Any, left: int) -> None:
        if left == 0:
            raise ValueError(f"nested more than {MAX_JSON_DEPTH} levels deep")
        if isinstance(item, dict):
            for inner in item.values():
                depth(inner, left - 1)
        elif isinstance(item, list):
            for inner in item:
                depth(inner, left - 1)

    depth(value, MAX_JSON_DEPTH)
    return value


def _integral(value: Any) -> Any:
    """In JSON Schema 10.0 is an integer, too."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _check_timestamp(value: str) -> str:
    # What a client of an earlier version sends.
    if value in ("", "unknown"):
        return ""
    if not is_timestamp(value):
        raise ValueError("not a valid timestamp: use 2026-01-31T09:30:00Z, or leave it empty")
    return value


# Last in line, or the bounds would not reach the OpenAPI document.
ACCEPT_INTEGRAL_FLOAT = BeforeValidator(_integral)
Name = Annotated[str, Field(min_length=1, max_length=200)]
OptionalName = Annotated[str, Field(max_length=200)]
Timestamp = Annotated[
    str,
    Field(max_length=200),
    AfterValidator(_check_timestamp),
    WithJsonSchema(
        {
            "anyOf": [{"type": "string", "format": "date-time"}, {"type": "string", "const": ""}],
            "description": "Empty if unknown",
        }
    ),
]
Folder = Annotated[str, Field(max_length=1000)]

# Texts that may be left out, by JSON's word for nothing too.
_NULL_TO_EMPTY = BeforeValidator(lambda value: "" if value is None else value)


def _nullable(most: int) -> WithJsonSchema:
    return WithJsonSchema({"anyOf": [{"type": "string", "maxLength": most}, {"type": "null"}]})


NullableName = Annotated[str, Field(max_length=200), _NULL_TO_EMPTY, _nullable(200)]
NullableFolder = Annotated[str, Field(max_length=1000), _NULL_TO_EMPTY, _nullable(1000)]
NullableText = Annotated[str, Field(max_length=100_000), _NULL_TO_EMPTY, _nullable(100_000)]
JsonObject = Annotated[dict[str, Any], AfterValidator(check_depth)]
NonNegativeInt = Annotated[int, Field(ge=0, le=2**53), ACCEPT_INTEGRAL_FLOAT]


class RequestModel(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class ResponseModel(BaseModel):
    pass


class ProjectRequest(RequestModel):
    """The project of a write: any one of these; a known session is enough."""

    project_id: NullableName = ""
    project: NullableFolder = Field("", description="The project's folder")
    cwd: NullableFolder = ""


class DoneResponse(ResponseModel):
    done: bool = True


# The service itself: health and audit log.


class HealthResponse(ResponseModel):
    status: Literal["ok", "unavailable"]
    version: str


class CallerResponse(ResponseModel):
    name: str = Field(description="`owner`, or the token's id")
    scopes: list[str]
    projects: list[str] | None = Field(description="Null for all")
    store: str = Field(
        description="Id of the server's store if it is a file: clients that write to the same "
        "store have nothing to sync"
    )


class AuditEntryResponse(ResponseModel):
    at: str
    caller: str
    what: str
    project: str
    session: str
    status: int


class AuditLogPage(ResponseModel):
    entries: list[AuditEntryResponse]
    next_offset: int | None

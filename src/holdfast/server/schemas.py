"""What the shapes of requests and answers are made of; each shape is with its routes.

Requests are strict: a number in quotes is not a number. What agents send as they like (payloads,
snapshots) is bounded in depth (`routing`) and otherwise kept as it came.
"""

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    computed_field,
)

from holdfast.state.timestamps import is_timestamp
from holdfast.sync.project_id import make_project_id

INVALID_TIMESTAMP = "not a valid timestamp: use 2026-01-31T09:30:00Z, or leave it empty"


def _make_integral(value: Any) -> Any:
    """In JSON Schema 10.0 is an integer, too."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _check_timestamp(value: str) -> str:
    if value and not is_timestamp(value):
        raise ValueError(INVALID_TIMESTAMP)
    return value


# Last in line, or the bounds would not reach the OpenAPI document.
ACCEPT_INTEGRAL_FLOAT = BeforeValidator(_make_integral)
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


def _nullable_schema(most: int) -> WithJsonSchema:
    return WithJsonSchema({"anyOf": [{"type": "string", "maxLength": most}, {"type": "null"}]})


NullableName = Annotated[str, Field(max_length=200), _NULL_TO_EMPTY, _nullable_schema(200)]
NullableFolder = Annotated[str, Field(max_length=1000), _NULL_TO_EMPTY, _nullable_schema(1000)]
NullableText = Annotated[str, Field(max_length=100_000), _NULL_TO_EMPTY, _nullable_schema(100_000)]
JsonObject = dict[str, Any]
NonNegativeInt = Annotated[int, Field(ge=0, le=2**53), ACCEPT_INTEGRAL_FLOAT]


class RequestModel(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class ResponseModel(BaseModel):
    """May be made of a record, whose fields are then read by the alias, where there is one."""

    model_config = ConfigDict(from_attributes=True, populate_by_name=True)


# Whether somebody said it to the service, or it is read from a session's own state.
Origin = Literal["posted", "observed"]


class ProjectRecord(ResponseModel):
    """What the service keeps of a project: a row of a table, and an item of an answer."""

    id: str
    project: str = Field(exclude=True)
    created: str = Field(serialization_alias="created_at")

    @computed_field  # type: ignore[prop-decorator]
    @property
    def project_id(self) -> str:
        return make_project_id(self.project)


class ProjectRequest(RequestModel):
    """The project of a write: any one of these; a known session is enough."""

    project_id: NullableName = ""
    project: NullableFolder = Field("", description="The project's folder")
    cwd: NullableFolder = ""

"""The arguments of the tools, and their JSON schemas."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from tailrace.api.parameters import QUERY_ID, Servers
from tailrace.api.routes.ledger import CoverageFilters
from tailrace.api.routes.search import Wanted

MOST_ITEMS = 50
"""Statements or events of a result: a model reads all of them."""
PLAN_HASH = "^[0-9A-Fa-f]{1,64}$"


class Search(Wanted):
    limit: int = Field(25, ge=1, le=MOST_ITEMS, description="Maximum number of events")


class OfAlert(BaseModel):
    model_config = ConfigDict(extra="forbid")

    alert_id: str = Field(pattern="^[0-9a-f]{32}$", description="The id of the alert, 32 hexadecimal digits")


class SlowQueries(Servers):
    limit: int = Field(20, ge=1, le=MOST_ITEMS, description="Maximum number of statements")


class PlanDiff(Servers):
    query_id: str = Field(pattern=QUERY_ID, description="The query id, 16 hexadecimal digits")
    old: str = Field(
        "", pattern=f"{PLAN_HASH}|^$", description="Hash of the older plan; by default the one before"
    )
    new: str = Field(
        "", pattern=f"{PLAN_HASH}|^$", description="Hash of the newer plan; by default the last one"
    )

    @model_validator(mode="after")
    def _has_both(self) -> Self:
        if bool(self.old) != bool(self.new):
            raise ValueError("`old` and `new` need each other")
        return self


class Coverage(CoverageFilters):
    pass


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """Returns a JSON schema without titles, and without alternatives for arguments that can be left out."""
    schema = model.model_json_schema(by_alias=True)
    properties = {name: _plain(each) for name, each in schema["properties"].items()}
    required = {"required": schema["required"]} if "required" in schema else {}
    return {"type": "object", "properties": properties, **required, "additionalProperties": False}


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in schema.items() if name not in ("title", "anyOf")}
    if "anyOf" in schema:
        kept.pop("default", None)
        kept |= next(each for each in schema["anyOf"] if each["type"] != "null")
    return kept


def problems_of(error: ValidationError) -> str:
    """Returns what is wrong with arguments, without their values."""
    found = [f"{'.'.join(map(str, each['loc'])) or 'arguments'}: {each['msg']}" for each in error.errors()]
    return "; ".join(found[:3])[:500]

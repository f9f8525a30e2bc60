"""Evidence bundles, through the evidence service: it holds the key and records each export under the
token's owner."""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Path
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from tailrace.api.access import Caller, scoped
from tailrace.api.parameters import Time, bad_range
from tailrace.api.problems import Problem
from tailrace.evidence import framework
from tailrace.evidence.service.client import EvidenceService

router = APIRouter(tags=["evidence"])
SCOPE = "evidence:read"
CHUNK_BYTES = 1 << 20

ExportId = Annotated[str, Path(pattern="^[0-9a-f]{32}$", description="The id of the export")]


class Export(BaseModel):
    """A requested export."""

    id: str
    framework: str
    period_from: str
    period_to: str
    actor: str
    requested_at: str
    state: Literal["waiting", "running", "done", "failed"]
    step: str
    steps_done: int
    steps: int
    error: str
    warnings: list[str]
    file: str
    files: int
    rows: int
    bytes: int
    manifest_sha256: str
    key_fingerprint: str


class Exports(BaseModel):
    items: list[Export] = Field(description="The latest first; the service keeps the last 20")


class WantedExport(BaseModel):
    """An export to start."""

    model_config = ConfigDict(extra="forbid")

    framework: str = Field(description="Such as `pci`", pattern="^[a-z0-9_-]{1,40}$")
    since: Time = Field(alias="from", description="Start of the period, included; whole minutes")
    until: Time = Field(alias="to", description="End of the period, excluded; whole minutes")


@router.get("/evidence", operation_id="list_exports", response_model=Exports)
def list_exports(caller: Annotated[Caller, scoped(SCOPE)]):
    """Lists exports that the evidence service knows."""
    return {"items": caller.counted(_service(caller).exports())}


@router.post("/evidence", operation_id="start_export", response_model=Export, status_code=202)
def start_export(caller: Annotated[Caller, scoped(SCOPE)], wanted: WantedExport):
    """Starts an export, which takes seconds to minutes. A role whose servers are restricted cannot export."""
    if wanted.framework not in framework.names():
        raise bad_range(f"There are the frameworks {', '.join(framework.names())}.")
    if wanted.since >= wanted.until:
        raise bad_range("`from` must be before `to`.")
    service = _service(caller)
    first, end = _minute(wanted.since), _minute(wanted.until)
    return service.export(service.start(wanted.framework, first, end, caller.owner, caller.role))


@router.get("/evidence/{export_id}", operation_id="read_export", response_model=Export)
def read_export(caller: Annotated[Caller, scoped(SCOPE)], export_id: ExportId):
    """Returns the state of an export."""
    return _service(caller).export(export_id)


@router.get(
    "/evidence/{export_id}/bundle",
    operation_id="download_bundle",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/zip": {}}, "description": "The signed bundle"}},
)
def download_bundle(caller: Annotated[Caller, scoped(SCOPE)], export_id: ExportId):
    """Returns the bundle of an export that is done."""
    service = _service(caller)
    state = service.readable(export_id, caller.role)
    if state["state"] != "done":
        raise Problem(409, "conflict", "The export is not done", f"The export is {state['state']}.")
    caller.count = state["rows"]
    headers = {
        "Content-Disposition": f'attachment; filename="evidence-{export_id}.zip"',
        "Content-Length": str(state["bytes"]),
    }
    content = _bundle(service, export_id, caller.role)
    return StreamingResponse(content, media_type="application/zip", headers=headers)


def _bundle(service: EvidenceService, export_id: str, role: str) -> Iterator[bytes]:
    with service.bundle(export_id, role) as (answer, _):
        while chunk := answer.read(CHUNK_BYTES):
            yield chunk


def _minute(time: datetime) -> str:
    return f"{time:%Y-%m-%dT%H:%M}"


def _service(caller: Caller) -> EvidenceService:
    if caller.services.evidence is None:
        detail = "This installation runs no evidence service for the API; use `tailrace evidence`."
        raise Problem(503, "unavailable", "The data cannot be read now", detail)
    return caller.services.evidence

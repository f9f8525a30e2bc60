"""Generates the entries of sources.yaml for a server."""

import json
from dataclasses import dataclass
from pathlib import Path

import yaml

from tailrace_capture.doctor.checks import zone_of
from tailrace_capture.doctor.examination import Examination

HEADER = "# Written by `tailrace doctor`; embedded/tailrace/sources/sources_file.py explains the keys.\n"

Entry = dict[str, str | bool]


@dataclass(frozen=True)
class Access:
    """An address and the file of its password, if there is one."""

    dsn: str
    password_file: Path | None

    def keys(self, prefix: str) -> Entry:
        secret = {f"{prefix}password_file": str(self.password_file.resolve())} if self.password_file else {}
        return {f"{prefix}dsn": self.dsn, **secret}


class WriteError(ValueError):
    """Nothing can be added to the list; the message states the reason."""


def entries(
    seen: Examination,
    instance: str,
    cluster: str,
    asked: Access,
    explained: Access | None = None,
) -> list[Entry]:
    """Returns one entry for each enabled log in a local file, and one for the server itself.

    The general log is omitted if there is an audit log, which contains more.
    """
    whose = {"instance": instance, "cluster": cluster or instance}
    zone = zone_of(seen) or "UTC"
    is_audited = any(log.source == "audit" and log.is_on for log in seen.logs())
    listed = [
        {**whose, "source": log.source, "path": log.path, "tz": zone}
        for log in seen.logs()
        if seen.is_local and log.is_on and log.path and not (is_audited and log.source == "general")
    ]
    server: Entry = {**whose, "source": "server", **asked.keys("")}
    server |= {name: True for name, taken in seen.snapshots.items() if taken.kind.is_optional}
    if explained is not None:
        server |= {"explain": True, **explained.keys("explain_")}
    return [*listed, server]


def written(entry: Entry) -> str:
    """Formats one entry as YAML: JSON's strings are valid in YAML."""
    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in entry.items()]
    return "- " + "\n  ".join(lines) + "\n"


def add(file: Path, wanted: list[Entry]) -> list[Entry]:
    """Appends missing entries to the list, and returns them. Raises WriteError, OSError."""
    text = file.read_text() if file.exists() else HEADER
    content = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if content and not content[0].startswith("- "):
        raise WriteError(f"{file}: entries can be added only to a list of lines that begin with `- `")
    known = _known(file, text)
    new = [entry for entry in wanted if _identity(entry) not in known]
    if new:
        end = "" if text.endswith("\n") else "\n"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + end + "".join(map(written, new)))
    return new


def _known(file: Path, text: str) -> set[tuple[str, str, str]]:
    try:
        return {_identity(entry) for entry in yaml.safe_load(text) or []}
    except (yaml.YAMLError, AttributeError, TypeError) as error:
        raise WriteError(f"{file} is no list of entries: {error}") from None


def _identity(entry: dict) -> tuple[str, str, str]:
    """The key that must be unique in an instance's entries: a file, or the server itself."""
    source = str(entry.get("source", ""))
    what = "" if source == "server" else str(entry.get("path", ""))
    return str(entry.get("instance", "")), source, what

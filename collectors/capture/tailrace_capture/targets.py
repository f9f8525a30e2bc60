"""Reads the servers to poll from a JSON list, or from the environment."""

import json
from collections.abc import Mapping
from pathlib import Path

from tailrace_capture.dsn import DsnError, parse
from tailrace_capture.service import Target
from tailrace_capture.snapshot import Identity

OPTIONAL = ("digests", "digest_histograms", "metadata_locks")
KEYS = {"cluster", "instance", "dsn", "password_file", *OPTIONAL}


class ConfigurationError(ValueError):
    """No server is configured; the message states how to configure one."""


def from_file(file: Path) -> list[Target]:
    """Reads a list of objects with the keys instance, dsn and, optionally, cluster, password_file and those
    of OPTIONAL. An invalid address is reported for its server, at each poll."""
    try:
        entries = json.loads(file.read_text())
        return [_target(entry) for entry in entries]
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ConfigurationError(f"{file}: expected a JSON list of servers: {error!r}") from error


def _target(entry: Mapping[str, str | bool]) -> Target:
    if unknown := entry.keys() - KEYS:
        raise ValueError(f"unknown key {sorted(unknown)[0]!r}; known are {', '.join(sorted(KEYS))}")
    password_file = Path(entry["password_file"]) if entry.get("password_file") else None
    identity = Identity(entry.get("cluster") or entry["instance"], entry["instance"])
    try:
        optional = frozenset(name for name in OPTIONAL if entry.get(name))
        return Target(identity, parse(entry["dsn"]), password_file, optional=optional)
    except DsnError as error:
        return Target(identity, None, password_file, f"address: {error}")


def from_environment(environment: Mapping[str, str]) -> list[Target]:
    """Reads TAILRACE_INSTANCE, TAILRACE_CLUSTER, TAILRACE_SERVER_DSN, TAILRACE_SERVER_PASSWORD_FILE (or
    TAILRACE_SERVER_PASSWORD). Raises ConfigurationError."""
    instance, dsn = environment.get("TAILRACE_INSTANCE"), environment.get("TAILRACE_SERVER_DSN")
    if not instance or not dsn:
        raise ConfigurationError(
            "TAILRACE_INSTANCE and TAILRACE_SERVER_DSN are not set and no --servers given"
        )
    file = environment.get("TAILRACE_SERVER_PASSWORD_FILE")
    try:
        address = parse(dsn)
    except DsnError as error:
        raise ConfigurationError(f"TAILRACE_SERVER_DSN: {error}") from None
    identity = Identity(environment.get("TAILRACE_CLUSTER") or instance, instance)
    optional = frozenset(
        name for name in OPTIONAL if environment.get(f"TAILRACE_CAPTURE_{name.upper()}", "") == "1"
    )
    return [Target(identity, address, Path(file) if file else None, optional=optional)]

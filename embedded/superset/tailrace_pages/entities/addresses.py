"""Addresses of the pages of entities and sessions, with arguments for the time range and filters.

tailrace_pages.links says how a name from a log becomes a part of an address, and back: any name has an
address, and the address gives exactly this name.
"""

from collections.abc import Mapping

from tailrace_pages import links
from tailrace_pages.links import NO_CLUSTER, alert, decode, encode

__all__ = ["MAX_CONNECTION", "NO_CLUSTER", "alert", "decode", "encode", "entity", "query", "session"]

MAX_CONNECTION = 2**64 - 1


def entity(kind: str, name: str, arguments: Mapping[str, str] | None = None) -> str:
    """Returns the address of the page of an entity, below the root of the server."""
    return links.address("entities", kind, name, arguments=arguments)


def session(cluster: str, instance: str, connection: int, arguments: Mapping[str, str] | None = None) -> str:
    """Returns the address of the page of the sessions with a connection id; NO_CLUSTER is no cluster."""
    return links.address("sessions", cluster or NO_CLUSTER, instance, str(connection), arguments=arguments)


def query(query_id: str, arguments: Mapping[str, str] | None = None) -> str:
    return links.address("queries", query_id, arguments=arguments)

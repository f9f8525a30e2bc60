"""One file of dashboards/ and its identity in Superset."""

import uuid
from dataclasses import dataclass
from typing import Any

NAMESPACE = uuid.UUID("b0f5c4b2-51a7-4f0e-9d43-2f6f0a1c7e11")


@dataclass(frozen=True)
class Asset:
    """One file of dashboards/, completed with its defaults."""

    kind: str
    name: str
    content: dict[str, Any]

    @property
    def file(self) -> str:
        return f"{self.kind}/{self.name}.yaml"

    @property
    def uuid(self) -> str:
        return asset_uuid(self.kind, self.name)


def asset_uuid(kind: str, name: str) -> str:
    """Returns the identity of an asset in every Superset, which depends only on its kind and file name."""
    return str(uuid.uuid5(NAMESPACE, f"{kind}/{name}"))

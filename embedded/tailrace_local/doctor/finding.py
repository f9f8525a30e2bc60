"""A problem that the doctor found."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Finding:
    """One problem. The texts contain no control codes."""

    message: str
    fix: str

    def to_json(self) -> dict[str, str]:
        return asdict(self)

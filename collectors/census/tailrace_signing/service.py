"""What the census calls: signs after each census, and repeats records that a killed Fluent Bit lost."""

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from tailrace_signing.repeats import Repeats
from tailrace_signing.signer import RangeSigner


class Signing:
    """Signs the files of each census."""

    def __init__(
        self,
        host: str,
        key_file: Path,
        spool: Path,
        report: Callable[[str], None],
        environment: Mapping[str, str],
    ) -> None:
        """Raises KeyFileError, OSError."""
        self._signer = RangeSigner(host, key_file, spool, report)
        port = environment.get("TAILRACE_HEALTH_PORT")
        address = f"http://{environment.get('TAILRACE_HEALTH_HOST') or '127.0.0.1'}:{port}"
        self._repeats = Repeats(spool, address, report) if port else None

    @property
    def has_more(self) -> bool:
        return self._signer.has_more

    def sign(self) -> None:
        self._signer.sign()

    def after_census(self, records: Iterable[Any], live: Collection[str]) -> None:
        self._signer.see(records, live)
        self._signer.sign()
        if self._repeats:
            self._repeats.check()

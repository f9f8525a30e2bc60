"""The golden cases of the fingerprinter."""

from tailrace.config.resources import REPOSITORY

RULES = REPOSITORY / "stream-jobs/query-core/src/test/resources/fingerprint/rules.psv"


def rules() -> list[tuple[str, str, str]]:
    """Returns name, statement and fingerprint of the golden cases of the fingerprinter."""
    found = []
    for line in RULES.read_text().splitlines():
        name, rest = line.split("|", 1)
        statement, fingerprint = rest.rsplit("|", 1)
        found.append((name, statement.replace("\\n", "\n"), fingerprint))
    return found

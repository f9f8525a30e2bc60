"""What to do about a log that does not arrive: the texts of `tailrace doctor` and of the page Setup."""

import json

INCOMPLETE_CENSUS = (
    "if it is new on the list, wait a minute; else: tailrace status, tailrace logs census fluentbit"
)
ABSENT = "check the path in sources.yaml, and whether the server writes the log"
NOT_READABLE = "give the collectors' user read permission, or remove the log from the list"
NOT_RUNNING = "tailrace up"


def entry(instance: str, cluster: str, source: str, path: str) -> tuple[str, ...]:
    """Returns the lines for sources.yaml that add a log."""
    return (
        "# sources.yaml",
        f"- instance: {_quoted(instance)}",
        f"  cluster: {_quoted(cluster or instance)}",
        f"  source: {source}",
        f"  path: {_quoted(path)}",
    )


def server_entry(instance: str, cluster: str) -> tuple[str, ...]:
    """Returns the lines for sources.yaml that add the server itself, for snapshots of its settings."""
    return (
        "# sources.yaml; `tailrace doctor --server` prints the account and its grants",
        f"- instance: {_quoted(instance)}",
        f"  cluster: {_quoted(cluster or instance)}",
        "  source: server",
        "  dsn: mysql://tailrace@HOST/",
        "  password_file: FILE",
    )


def _quoted(text: str) -> str:
    """Formats a text as YAML: JSON's strings are valid in YAML."""
    return json.dumps(text, ensure_ascii=False)

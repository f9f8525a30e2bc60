"""The commands by task, in the order of `tailrace --help` and of docs/CLI.md."""

from collections.abc import Iterable

TASKS = {
    "Run the stack": ("demo", "up", "down", "status", "restart", "logs"),
    "Analyze log files, without a server": ("digest", "parse", "fingerprint", "plan", "detect", "pull"),
    "Find out about alerts": ("alerts", "rules"),
    "Investigate": ("search",),
    "Prove completeness": (
        *("ledger", "backfill", "evidence", "verify", "review"),
        *("transparency", "witness", "hold", "archive"),
        *("erase", "reveal"),
    ),
    "Find and fix problems": ("health", "doctor", "settings", "classes"),
    "Operate an installation": (
        *("dashboards", "reports", "tokens", "credentials", "keys"),
        *("backup", "restore", "savepoint", "rewind", "migrate", "retention"),
    ),
    "Use the command line": ("completion",),
}
OTHER = "Other commands"
EXAMPLES = (
    "tailrace digest /var/log/mysql/slow.log     # the heaviest statements of a log; needs no server",
    "tailrace up                                 # starts the stack and watches the logs of sources.yaml",
    "tailrace alerts list --since 24h            # new alerts, most severe first",
)


def by_task(names: Iterable[str]) -> dict[str, list[str]]:
    """Returns those of the names that exist, by task; commands of extensions without a task are last."""
    names = list(names)
    known = {name for task in TASKS.values() for name in task}
    groups = {task: [name for name in members if name in names] for task, members in TASKS.items()}
    groups[OTHER] = [name for name in names if name not in known]
    return {task: members for task, members in groups.items() if members}

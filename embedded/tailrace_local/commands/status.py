"""Shows each component: state, address, version, restarts, memory and processor time.

It also lists servers that refuse queries of capture, and logs that are not read completely, also those that
the component pull reads from a service. These do not change the exit code. With --output csv, the rows are
the components; --output json also contains the servers and logs.
"""

import argparse
import dataclasses
import time

from tailrace import console
from tailrace.cli import output
from tailrace.cli.context import Context
from tailrace.cli.exit_codes import Exit
from tailrace.plural import counted
from tailrace_local.components.capture import Capture
from tailrace_local.components.explain import Explain
from tailrace_local.components.superset import Superset, logins
from tailrace_local.doctor import logs as log_diagnosis
from tailrace_local.supervisor import control
from tailrace_local.supervisor.control import ComponentStatus, StackStatus

HELP = "show the components: state, address, version, restarts, memory"
EXAMPLES = ("tailrace status", "tailrace status --json | jq -r '.parts[] | [.name, .pid] | @tsv'")

EXIT_CODES = {
    0: "every component is healthy",
    1: "a component is not healthy; its reason is below the table",
    3: "the stack is not running",
}
SEE_ALSO = ("tailrace health", "tailrace doctor", "tailrace logs")
KEYS = {
    "": {
        "name": "the component's name",
        "state": "stopped, waiting, starting, healthy, unhealthy, backoff or stopping",
        "reason": "why it is not healthy; null if it is",
        "pid": "process id; null if no process runs",
        "restarts": "automatic restarts since the start of the stack",
        "since": "time when it entered its state, in seconds since 1970 UTC",
        "address": "where it listens; null if it does not listen",
        "version": "version of the software; null if it is unknown",
        "rss_bytes": "memory of its processes, in bytes",
        "cpu_seconds": "processor time of its processes, in seconds",
        "last_failure": "how it ended before its last automatic restart; null if it never did",
        "recent_restarts": "automatic restarts in the last ten minutes, since it was last started by hand",
    }
}
NULL_IF_EMPTY = ("reason", "address", "version", "last_failure")

HEADER = ("component", "state", "address", "version", "pid", "for", "restarts", "memory", "cpu")
COLOURS = {"healthy": console.GREEN, "starting": console.YELLOW, "waiting": console.YELLOW}


def configure(parser: argparse.ArgumentParser) -> None:
    output.add_option(parser)


def run(arguments: argparse.Namespace, context: Context) -> Exit:
    status = control.status(context.home)
    servers = servers_of(context)
    seen = log_diagnosis.diagnose(context)
    rows = [_json(component) for component in status.components]
    if arguments.output == output.JSON:
        logs = [finding.to_json() for finding in seen.findings]
        pulled = [dataclasses.asdict(log) for log in seen.pulled]
        output.write_json(
            {**status.to_json(), "parts": rows, "servers": servers, "logs": logs, "pulled": pulled}
        )
    elif arguments.output == output.CSV:
        output.write_csv(KEYS[""], rows)
    else:
        show(status)
        show_servers(servers)
        show_logs(seen)
        show_logins(status, context)
    return Exit.OK if status.is_healthy else Exit.FAILED


def _json(component: ComponentStatus) -> dict[str, object]:
    """Returns the row of a component; an unknown value is null."""
    row = dataclasses.asdict(component)
    return {name: output.known(value) if name in NULL_IF_EMPTY else value for name, value in row.items()}


def servers_of(context: Context) -> list[dict[str, object]]:
    """Returns the state of the servers of sources.yaml, by the component that polls them."""
    components = (Capture(context.settings, context.home), Explain(context.settings, context.home))
    return [
        {"part": component.name, **dataclasses.asdict(server)}
        for component in components
        if component.configured()
        for server in component.servers()
    ]


def show_servers(servers: list[dict[str, object]]) -> None:
    """Prints a sentence for each server with a problem. An unreachable server is no unhealthy component and
    does not change the exit code."""
    for each in servers:
        if each["problem"]:
            colour = console.YELLOW if each["ok"] else console.RED
            print(console.styled(f"  {each['part']}: {each['instance']}: {each['problem']}", colour))


def show_logs(seen: log_diagnosis.LogDiagnosis) -> None:
    """Prints the number of watched logs, and a sentence for each problem with a log. These do not change the
    exit code either."""
    print(f"  {console.number([*seen.logs, *seen.pulled], 'log')} watched: {seen.file}")
    for finding in seen.findings:
        print(console.styled(f"  {finding.message}", console.RED))


def show_logins(status: StackStatus, context: Context) -> None:
    """Prints the users of the dashboards and the location of their passwords."""
    if status.component(Superset.name):
        print(f"  dashboards: {logins(context.home)}")


def show(status: StackStatus) -> None:
    """Prints the table, and a sentence for each component that is not healthy or has crashed."""
    console.heading("Components")
    console.table(HEADER, map(_row, status.components), right=("pid", "restarts", "memory", "cpu"))
    for component in status.components:
        if not component.is_healthy:
            colour = COLOURS.get(component.state, console.RED)
            print(console.styled(f"  {component.name}: {component.state}: {component.reason}", colour))
        elif component.recent_restarts:
            crashes = counted(component.recent_restarts, "restart")
            text = f"{crashes} after a crash in the last ten minutes; the last time: {component.last_failure}"
            print(console.styled(f"  {component.name}: {text}", console.YELLOW))


def _row(component: ComponentStatus) -> tuple[object, ...]:
    return (
        component.name,
        component.state,
        component.address,
        component.version or "-",
        component.pid or "-",
        console.duration(time.time() - component.since),
        component.restarts,
        console.size(component.rss_bytes),
        console.duration(component.cpu_seconds),
    )

"""`python -m tailrace.delivery`: delivers alerts, and runs scheduled searches, until SIGTERM, and logs to
standard output."""

import argparse
import dataclasses
import sys
from collections.abc import Callable
from pathlib import Path

from tailrace import process
from tailrace.alerts.delivery import config
from tailrace.alerts.delivery.channel_states import ChannelStates
from tailrace.alerts.delivery.service import Service, backoffs_of
from tailrace.clickhouse.client import ClickHouse
from tailrace.config import renamed
from tailrace.config.renamed import Renamed
from tailrace.config.yaml_reader import ConfigurationError
from tailrace.credentials.names import password_name
from tailrace.search.scheduled.runner import Runner

OLD_OPTIONS = {"--beat": Renamed("--heartbeat-file")}


def main() -> int:
    arguments = _arguments()
    try:
        found = config.load(arguments.config)
    except ConfigurationError as error:
        print(f"tailrace: {error}", file=sys.stderr)
        return 2
    if not found.dashboards:
        found = dataclasses.replace(found, dashboards=arguments.dashboards)
    clickhouse = process.clickhouse_from(arguments)
    backoffs = backoffs_of(found)
    connect = accounts(clickhouse.url, arguments.secrets)
    searches = Runner(clickhouse, connect, found, backoffs, process.print_line)
    states = ChannelStates(clickhouse, found, backoffs, process.print_line)
    others = [states.run, *(searches.threads if arguments.secrets else [])]
    service = Service(found, clickhouse, arguments.heartbeat_file, process.print_line, others, backoffs)
    process.at_stop(service.stop)
    return 0 if service.run() else 1


def accounts(url: str, secrets: Path) -> Callable[[str], ClickHouse]:
    """Returns a function that returns the access of a user, which raises OSError if there is no password."""
    return lambda user: ClickHouse(url, user, (secrets / password_name(user)).read_text().strip())


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tailrace.delivery", description=__doc__)
    parser.add_argument("--config", type=Path, required=True, help="alerts.yaml")
    process.add_clickhouse_arguments(parser, user="delivery")
    parser.add_argument(
        "--dashboards",
        default="",
        metavar="URL",
        help="address before links, if alerts.yaml has no `dashboards`",
    )
    parser.add_argument(
        "--secrets",
        type=Path,
        metavar="DIR",
        help="files with the passwords of the audiences, to run scheduled searches",
    )
    parser.add_argument(
        "--heartbeat-file", type=Path, required=True, help="file that is written after every pass"
    )
    return renamed.parse(parser, OLD_OPTIONS)


if __name__ == "__main__":
    sys.exit(main())

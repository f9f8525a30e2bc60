"""`python -m tailrace.delivery`: delivers alerts until SIGTERM, and logs to standard output."""

import argparse
import dataclasses
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path

from tailrace.alerts.delivery import config
from tailrace.alerts.delivery.service import Service
from tailrace.clickhouse.client import ClickHouse
from tailrace.config import renamed
from tailrace.config.renamed import Renamed
from tailrace.config.yaml_reader import ConfigurationError

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
    clickhouse = ClickHouse(arguments.clickhouse, arguments.user, arguments.password_file.read_text().strip())
    service = Service(found, clickhouse, arguments.heartbeat_file, _print_line)
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: service.stop())
    return 0 if service.run() else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tailrace.delivery", description=__doc__)
    parser.add_argument("--config", type=Path, required=True, help="alerts.yaml")
    parser.add_argument("--clickhouse", required=True, metavar="URL", help="such as http://127.0.0.1:18123")
    parser.add_argument("--user", default="delivery")
    parser.add_argument("--password-file", type=Path, required=True)
    parser.add_argument(
        "--dashboards",
        default="",
        metavar="URL",
        help="address before links, if alerts.yaml has no `dashboards`",
    )
    parser.add_argument(
        "--heartbeat-file", type=Path, required=True, help="file that is written after every pass"
    )
    return renamed.parse(parser, OLD_OPTIONS)


def _print_line(line: str) -> None:
    print(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {line}", flush=True)


if __name__ == "__main__":
    sys.exit(main())

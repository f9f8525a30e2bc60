"""`python -m tailrace.delivery`: delivers alerts until SIGTERM, and logs to standard output."""

import argparse
import dataclasses
import sys
from pathlib import Path

from tailrace import process
from tailrace.alerts.delivery import config
from tailrace.alerts.delivery.service import Service
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
    service = Service(found, process.clickhouse_from(arguments), arguments.heartbeat_file, process.print_line)
    process.at_stop(service.stop)
    return 0 if service.run() else 1


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
        "--heartbeat-file", type=Path, required=True, help="file that is written after every pass"
    )
    return renamed.parse(parser, OLD_OPTIONS)


if __name__ == "__main__":
    sys.exit(main())

"""`python -m tailrace.health`: serves metrics in Prometheus' text format until SIGTERM.

/metrics contains the metrics of ClickHouse and of the jobs at the given addresses.
"""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

from tailrace.clickhouse.client import ClickHouse
from tailrace.health import exporter
from tailrace.health import metrics as health_metrics

ACCOUNT = "reader_compliance"


def main() -> int:
    arguments = _arguments()
    exporter.serve(arguments.listen, _reader(arguments))
    return 0


def _reader(arguments: argparse.Namespace) -> Callable[[str], str]:
    password = arguments.password_file.read_text().strip()
    clickhouse = ClickHouse(arguments.clickhouse, arguments.user, password)
    addresses = dict(job.split("=", maxsplit=1) for job in arguments.job)
    jobs = {name: health_metrics.rest_client(address) for name, address in addresses.items()}

    def read(path: str) -> str:
        if path != exporter.PATH:
            raise KeyError(path)
        return exporter.text([*health_metrics.job_metrics(jobs), *health_metrics.ledger_metrics(clickhouse)])

    return read


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tailrace.health",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--listen", required=True, metavar="HOST:PORT")
    parser.add_argument("--clickhouse", required=True, metavar="URL", help="such as http://clickhouse:8123")
    parser.add_argument("--user", default=ACCOUNT)
    parser.add_argument("--password-file", type=Path, default=Path(os.devnull))
    parser.add_argument(
        "--job",
        action="append",
        default=[],
        metavar="NAME=URL",
        help="a job and the address of its Flink REST interface",
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

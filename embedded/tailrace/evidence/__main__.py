"""`python -m tailrace.evidence`: exports, verifies and signs for the dashboards until SIGTERM."""

import argparse
import sys
import threading
from pathlib import Path

from tailrace import process
from tailrace.evidence import signing
from tailrace.evidence.reviews import ACCOUNT
from tailrace.evidence.service.exports import Exports
from tailrace.evidence.service.server import Server, Service
from tailrace.rules.backtests import Backtests, Reader
from tailrace.rules.catalog import OWN


def main() -> int:
    arguments = _arguments()
    clickhouse = process.clickhouse_from(arguments)
    key = signing.read_private(arguments.key)
    directory = arguments.directory
    uploads = directory / "uploads"
    uploads.mkdir(mode=0o700, parents=True, exist_ok=True)
    exports = Exports(directory / "exports", clickhouse, key, process.print_line, arguments.home)
    backtests = _backtests(arguments)
    service = Service(clickhouse, key, exports, arguments.access, uploads, backtests)
    with Server(arguments.socket, service) as server:
        process.at_stop(lambda: threading.Thread(target=server.shutdown).start())
        server.serve_forever()
    if backtests:
        backtests.stop()
    return 0


def _backtests(arguments: argparse.Namespace) -> Backtests | None:
    if arguments.backtest_jar is None:
        return None
    store = (arguments.clickhouse, arguments.backtest_user, arguments.backtest_password_file)
    return Backtests(arguments.directory / "backtests", Reader(arguments.backtest_jar, OWN, *store))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tailrace.evidence", description=__doc__)
    process.add_clickhouse_arguments(parser, user=ACCOUNT)
    parser.add_argument("--key", type=Path, required=True, help="the key of the installation (PEM)")
    parser.add_argument("--directory", type=Path, required=True, help="for bundles, and for uploads")
    parser.add_argument("--home", type=Path, help="of the installation, with its transparency log")
    parser.add_argument("--access", type=Path, required=True, help="access.yaml; may be missing")
    parser.add_argument("--backtest-jar", type=Path, help="the jar of the command line; runs backtests")
    parser.add_argument("--backtest-user", default="reader_security", help="as whom backtests read")
    parser.add_argument("--backtest-password-file", type=Path, help="the password of that user")
    parser.add_argument("--socket", type=Path, required=True, help="the Unix socket of the service")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

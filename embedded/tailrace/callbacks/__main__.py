"""`python -m tailrace.callbacks`: records actions of other tools on alerts until SIGTERM."""

import argparse
import json
import sys
import threading
import time
from pathlib import Path

from tailrace import process, replaced_file
from tailrace.alerts.callbacks import config
from tailrace.alerts.callbacks.server import CallbackServer
from tailrace.alerts.callbacks.service import Callbacks
from tailrace.config.yaml_reader import ConfigurationError

HEARTBEAT_SECONDS = 10


def main() -> int:
    arguments = _arguments()
    try:
        found = config.load(arguments.config)
    except ConfigurationError as error:
        print(f"tailrace: {error}", file=sys.stderr)
        return 2
    callbacks = Callbacks(found, process.clickhouse_from(arguments), process.print_line)
    with CallbackServer(found, callbacks, arguments.bind or found.bind, arguments.port) as server:
        process.print_line(f"listens on {server.server_address[0]} port {server.server_address[1]}")
        _serve(server, arguments.heartbeat_file)
    return 0


def _serve(server: CallbackServer, heartbeat: Path) -> None:
    """Serves until SIGTERM, and writes the heartbeat file meanwhile."""
    stop = threading.Event()
    process.at_stop(stop.set)
    thread = threading.Thread(target=server.serve_forever, args=(0.2,), daemon=True)
    thread.start()
    while True:
        replaced_file.write(heartbeat, json.dumps({"at": time.time(), "problem": ""}))
        if stop.wait(HEARTBEAT_SECONDS) or not thread.is_alive():
            break
    server.shutdown()
    thread.join()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tailrace.callbacks", description=__doc__)
    parser.add_argument("--config", type=Path, required=True, help="callbacks.yaml")
    process.add_clickhouse_arguments(parser, user="analyst")
    parser.add_argument(
        "--bind", default="", help="the address to listen on, instead of the address in callbacks.yaml"
    )
    parser.add_argument("--port", type=int, required=True, help="the port to listen on; 0: any free port")
    parser.add_argument(
        "--heartbeat-file", type=Path, required=True, help="file that is written every ten seconds"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

"""Events per second and CPU-seconds of the forwarding to a local HTTP Event Collector with acknowledgement.

    make bench-forwarding ARGUMENTS="--events 200000 --processes 2"

The receiver is a process of its own that compares the ids of all events with those that were sent.
"""

import argparse
import json
import multiprocessing
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

from confluent_kafka import Producer

from e2e import event_messages as events
from e2e.siem_receivers import Posted, serving
from e2e.stack import Stack
from tailrace.config.resources import REPOSITORY
from tailrace.forwarding.forwarder import TOPIC

PORT = int(os.environ.get("BENCH_FIRST_PORT", "22300"))
KINDS = (events.query, events.login, events.write, events.query)
ID = re.compile(rb'"uid":"([0-9a-f]{32})"|"id":"([0-9a-f]{32})"|"event_id":"([0-9a-f]{32})"')
PATIENCE_SECONDS = 600


class Counting:
    """Acknowledges at once, and stores the ids."""

    def __init__(self) -> None:
        self.ids: set[bytes] = set()
        self.bytes = 0

    def __call__(self, request: Posted) -> tuple[int, object]:
        if request.route.endswith("/ack"):
            return 200, {"acks": {str(ack): True for ack in json.loads(request.body)["acks"]}}
        self.ids.update(match[match.lastindex] for match in ID.finditer(request.body))
        self.bytes += len(request.body)
        return 200, {"text": "Success", "code": 0, "ackId": len(self.ids)}


def receive(count: int, connection: Connection) -> None:
    """Runs the receiver until it has so many ids; sends its address, then bytes and its CPU-seconds."""
    receiver = Counting()
    with serving(receiver) as url:
        connection.send(url)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while len(receiver.ids) < count and time.monotonic() < deadline:
            time.sleep(0.05)
        connection.send((len(receiver.ids), receiver.bytes, time.process_time()))
        connection.recv()


def fill(address: str, count: int) -> None:
    producer = Producer({"bootstrap.servers": address, "linger.ms": 50})
    for number in range(count):
        producer.produce(TOPIC, KINDS[number % len(KINDS)](number), key=str(number % 64))
        producer.poll(0)
        if number % 50_000 == 0:
            producer.flush()
    producer.flush()


def main() -> None:
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as directory:
        stack = Stack(Path(directory) / "home", PORT, ("kafka",))
        stack.up()
        try:
            address = f"127.0.0.1:{stack.settings.port_kafka}"
            fill(address, arguments.events)
            print(json.dumps(measured(address, Path(directory), arguments)))
        finally:
            stack.down()


def measured(address: str, directory: Path, arguments: argparse.Namespace) -> dict[str, object]:
    """Forwards all events of the topic once; returns what it took."""
    ours, theirs = multiprocessing.Pipe()
    receiver = multiprocessing.Process(target=receive, args=(arguments.events, theirs))
    receiver.start()
    _configure(directory, ours.recv(), arguments)
    words = ["--config", directory / "alerts.yaml", "--kafka", address, "--status-directory", directory]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "embedded")}
    before, began = _children_cpu(), time.monotonic()
    service = subprocess.Popen([sys.executable, "-m", "tailrace.forwarding", *words], env=environment)
    found, received_bytes, receiver_cpu = ours.recv()
    seconds = time.monotonic() - began
    service.send_signal(signal.SIGTERM)
    service.wait(60)
    cpu = _children_cpu() - before
    ours.send("end")
    receiver.join()
    assert found == arguments.events, f"{found} of {arguments.events} events arrived"
    per = 100_000 / arguments.events
    return {
        "events": found,
        "format": arguments.format,
        "processes": arguments.processes,
        "gzip": arguments.gzip,
        "seconds": round(seconds, 1),
        "events_per_second": round(found / seconds),
        "cpu_seconds_per_100000": round(cpu * per, 2),
        "load_average": round(os.getloadavg()[0], 1),
        "receiver_cpu_seconds_per_100000": round(receiver_cpu * per, 2),
        "bytes_per_event": round(received_bytes / found),
    }


def _configure(directory: Path, url: str, arguments: argparse.Namespace) -> None:
    (directory / "secret").write_text("the secret key")
    channel = {"name": "bench", "kind": "splunk", "secret_file": "secret", "alerts": False}
    channel |= {"url": f"{url}/services/collector/event", "indexer_ack": True, "compress": arguments.gzip}
    of_events = {"channel": "bench", "from": "earliest", "format": arguments.format}
    of_events |= {"processes": arguments.processes, "batch_events": arguments.batch}
    content = {"channels": [channel], "events": [of_events]}
    (directory / "alerts.yaml").write_text(json.dumps(content))


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--batch", type=int, default=2000)
    parser.add_argument("--format", default="ocsf", choices=("ocsf", "ecs", "json"))
    parser.add_argument("--gzip", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()

"""Events per second and CPU-seconds of the forwarding to a local HTTP Event Collector with acknowledgement.

    make bench-forwarding ARGUMENTS="--events 200000 --processes 2 --ack-seconds 2 --peer PROGRAM"

The receiver is a process of its own that compares the ids of all events with those that were sent. `--peer`
sends the same texts with a Fluent Bit (5 or later), which reads them from a file as lines of JSON: it neither
decodes nor converts, and awaits no acknowledgement.
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
import threading
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random

from confluent_kafka import Producer

from e2e import event_messages as events
from e2e.siem_receivers import Posted, serving
from e2e.stack import Stack
from tailrace.config.resources import REPOSITORY
from tailrace.forwarding.batch import Source
from tailrace.forwarding.forwarder import TOPIC
from tailrace.outputs.config import Splunk
from tailrace.outputs.event_channels import KINDS, EventChannel
from tailrace.outputs.splunk import SplunkReceiver

PORT = int(os.environ.get("BENCH_FIRST_PORT", "22300"))
ID = re.compile(rb'"uid":"([0-9a-f]{32})"|"id":"([0-9a-f]{32})"|"event_id":"([0-9a-f]{32})"')
PATIENCE_SECONDS = 300
PEER = """[SERVICE]
    Flush 1
    Parsers_File {directory}/parsers.conf
[INPUT]
    Name tail
    Path {directory}/events.json
    Parser json
    Read_from_Head On
    Buffer_Chunk_Size 1M
    Buffer_Max_Size 4M
[OUTPUT]
    Name splunk
    Match *
    Host 127.0.0.1
    Port {port}
    Splunk_Token secret
    Splunk_Send_Raw On
    Retry_Limit False
"""


class Counting:
    """Acknowledges a request after some seconds, and stores the ids."""

    def __init__(self, ack_seconds: float) -> None:
        self.ids: set[bytes] = set()
        self.bytes = 0
        self._ack_seconds = ack_seconds
        self._received: list[float] = []
        self._lock = threading.Lock()

    def __call__(self, request: Posted) -> tuple[int, object]:
        if request.route.endswith("/ack"):
            until = time.monotonic() - self._ack_seconds
            acks = json.loads(request.body)["acks"]
            return 200, {"acks": {str(ack): self._received[ack] <= until for ack in acks}}
        found = [match[match.lastindex] for match in ID.finditer(request.body)]
        with self._lock:
            self.ids.update(found)
            self.bytes += len(request.body)
            self._received.append(time.monotonic())
            return 200, {"text": "Success", "code": 0, "ackId": len(self._received) - 1}


def receive(count: int, ack_seconds: float, connection: Connection) -> None:
    """Runs the receiver until it has `count` ids; sends its address, then bytes and its CPU-seconds."""
    receiver = Counting(ack_seconds)
    with serving(receiver) as url:
        connection.send(url)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while len(receiver.ids) < count and time.monotonic() < deadline:
            time.sleep(0.05)
        connection.send((len(receiver.ids), receiver.bytes, time.process_time()))
        connection.recv()


def message(number: int) -> bytes:
    """Returns an event whose values differ as in logs: 500 statements, 50 clients."""
    random = Random(number)
    client = {"user": f"app{random.randrange(20)}", "host": f"web-{random.randrange(50)}"}
    client |= {"ip": f"10.1.20.{random.randrange(50)}", "connection_id": random.randrange(10_000)}
    client |= {"entry_offset": 300 * number, "event_time": events.MICROS + 997 * number}
    if number % 4 == 1:
        return events.login(number, **client)
    if number % 4 == 3:
        return events.write(number, **client)
    statement = f"select id, status from orders{random.randrange(500)} where customer = ? order by id limit ?"
    times = {"query_time": random.random(), "lock_time": random.random() / 1e4}
    rows = {"rows_sent": random.randrange(100), "rows_examined": random.randrange(100_000)}
    return events.query(number, fingerprint=statement, query_id=hash(statement), **times, **rows, **client)


def fill(address: str, count: int) -> None:
    producer = Producer({"bootstrap.servers": address, "linger.ms": 50})
    for number in range(count):
        producer.produce(TOPIC, message(number), key=str(number % 64))
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
            print(json.dumps(forwarded(address, Path(directory), arguments)), flush=True)
            if arguments.peer:
                print(json.dumps(sent_by_peer(arguments.peer, Path(directory), arguments)))
        finally:
            stack.down()


def forwarded(address: str, directory: Path, arguments: argparse.Namespace) -> dict[str, object]:
    """Forwards all events of the topic once; returns what it took."""

    def command(url: str) -> list[object]:
        _configure(directory, url, arguments)
        words = ["--config", directory / "alerts.yaml", "--kafka", address, "--status-directory", directory]
        return [sys.executable, "-m", "tailrace.forwarding", *words]

    said = {"format": arguments.format, "processes": arguments.processes, "batch": arguments.batch}
    return {**said, "ack_seconds": arguments.ack_seconds, **measured(command, arguments)}


def sent_by_peer(program: Path, directory: Path, arguments: argparse.Namespace) -> dict[str, object]:
    """Sends the same texts with Fluent Bit; returns what it took."""
    receiver = SplunkReceiver(Splunk(url="http://127.0.0.1", secret_file=directory / "secret"))
    channel = EventChannel(name="bench", receiver=None, kinds=KINDS, format=arguments.format)
    source = Source(channel)
    with (directory / "events.json").open("wb") as file:
        for number in range(arguments.events):
            file.write(receiver.text(source.record(message(number))) + b"\n")
    (directory / "parsers.conf").write_text("[PARSER]\n    Name json\n    Format json\n")

    def command(url: str) -> list[object]:
        port = url.rpartition(":")[2]
        file = directory / "fluent-bit.conf"
        file.write_text(PEER.format(directory=directory, port=port))
        return [program, "-q", "-c", file]

    return {"peer": "Fluent Bit", **measured(command, arguments)}


def measured(command: Callable[[str], Sequence[object]], arguments: argparse.Namespace) -> dict[str, object]:
    """Runs a command for the address of a receiver until that has all events; returns what it took."""
    ours, theirs = multiprocessing.Pipe()
    receiver = multiprocessing.Process(target=receive, args=(arguments.events, arguments.ack_seconds, theirs))
    receiver.start()
    words = command(ours.recv())
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "embedded")}
    before, began = _children_cpu(), time.monotonic()
    service = subprocess.Popen([str(word) for word in words], env=environment)
    found, received_bytes, receiver_cpu = ours.recv()
    seconds = time.monotonic() - began
    service.send_signal(signal.SIGTERM)
    service.wait(60)
    cpu = _children_cpu() - before
    ours.send("end")
    receiver.join()
    assert found == arguments.events, f"{found} of {arguments.events} events arrived"
    return {
        "events": found,
        "gzip": arguments.gzip,
        "seconds": round(seconds, 1),
        "events_per_second": round(found / seconds),
        "events_per_cpu_second": round(found / cpu),
        "load_average": round(os.getloadavg()[0], 1),
        "receiver_cpu_seconds_per_100000": round(receiver_cpu * 100_000 / found, 2),
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
    parser.add_argument("--ack-seconds", type=float, default=0, help="time until a request is indexed")
    parser.add_argument(
        "--peer", type=Path, help="a Fluent Bit with the output splunk, to send the same texts"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()

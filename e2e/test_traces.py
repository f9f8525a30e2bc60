"""From the slow query to its request and back, with spans that OpenTelemetry's SDK encodes.

That spans are stored once despite kills is tested in test_pipeline.py, together with logs.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread

from confluent_kafka import Producer
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, format_span_id, format_trace_id

from e2e.limits import LIMIT_SECONDS
from e2e.otlp import as_json, as_protobuf
from e2e.stack import Stack, wait_until
from tailrace.config.settings import Settings
from tailrace.sources.sources_file import Source

TOPIC = "otlp_spans"
CARD = "4111111111111111"
PASSWORD = "hunter2"
LARGEST_MESSAGE = 20_000_000


class Application:
    """A web application: every request is a trace, each of its statements a span."""

    def __init__(self, service: str) -> None:
        self.finished = InMemorySpanExporter()
        provider = TracerProvider(resource=Resource.create({"service.name": service}))
        provider.add_span_processor(SimpleSpanProcessor(self.finished))
        self.tracer = provider.get_tracer("e2e", "1.0")

    def request(self, order: int, items: int = 3) -> str:
        """Serves one request; returns its slow statement with the comment that a driver would add."""
        with self.tracer.start_as_current_span(
            "GET /orders/{id}",
            kind=SpanKind.SERVER,
            attributes={"http.request.method": "GET", "http.route": "/orders/{id}"},
        ):
            for item in range(items):
                self.statement(f"SELECT * FROM items WHERE id = {item}")
            return self.statement(
                f"SELECT * FROM orders WHERE card = '{CARD}' AND pass = '{PASSWORD}' AND id = {order}"
            )

    def statement(self, text: str) -> str:
        """Records one call of the database; the statement as it is sent."""
        attributes = {"db.system.name": "mysql", "db.namespace": "shop", "db.query.text": text}
        with self.tracer.start_as_current_span(
            "SELECT shop", kind=SpanKind.CLIENT, attributes=attributes
        ) as span:
            context = span.get_span_context()
            parent = f"00-{format_trace_id(context.trace_id)}-{format_span_id(context.span_id)}-01"
            return f"{text} /*traceparent='{parent}'*/"

    def messages(self) -> ExportTraceServiceRequest:
        """Returns the spans since the last call, as the exporter sends them."""
        request = encode_spans(self.finished.get_finished_spans())
        self.finished.clear()
        return request


def send(settings: Settings, *messages: bytes) -> None:
    """Sends messages to the topic like the Collector's Kafka exporter."""
    producer = Producer(
        {
            "bootstrap.servers": f"127.0.0.1:{settings.port_kafka}",
            "acks": "all",
            "message.max.bytes": LARGEST_MESSAGE,
        }
    )
    for message in messages:
        producer.produce(TOPIC, message)
    assert producer.flush(LIMIT_SECONDS) == 0


def log_slowly(log: Path, statement: str) -> None:
    """Appends an entry to a slow log."""
    now = datetime.now(UTC)
    with log.open("a") as file:
        file.write(
            f"# Time: {now:%Y-%m-%dT%H:%M:%S.%fZ}\n"
            "# User@Host: app[app] @ web-1 [10.1.20.17]  Id:    41\n"
            "# Query_time: 2.013251  Lock_time: 0.000001 Rows_sent: 1  Rows_examined: 90211\n"
            f"SET timestamp={int(now.timestamp())};\n{statement};\n"
        )


def count(stack: Stack, service: str) -> dict[str, int]:
    """Returns rows and distinct spans of a service."""
    return stack.clickhouse().rows(
        "SELECT count() AS stored, uniqExact(TraceId, SpanId) AS distinct_spans FROM tailrace.otel_traces "
        "WHERE ServiceName = {service:String}",
        {"service": service},
    )[0]


def test_a_request_is_found_from_its_slow_query_and_back(stack, tmp_path):
    application, log = Application("shop"), tmp_path / "slow.log"
    log.touch()
    stack.watch_sources([Source("traced-db", "slowlog", log, "traced")])
    log_slowly(log, application.request(order=7))
    first = application.messages()
    log_slowly(log, application.request(order=8))
    send(stack.settings, as_protobuf(first), as_json(application.messages()))

    wait_until(lambda: count(stack, "shop")["stored"] == 10, "the spans")
    clickhouse = stack.clickhouse()
    wait_until(
        lambda: len(clickhouse.rows("SELECT 1 FROM tailrace.query_events WHERE instance = 'traced-db'")) == 2,
        "the slow queries",
    )

    found = clickhouse.rows(
        "SELECT q.query_id = s.query_id AS same_statement, root.endpoint AS endpoint "
        "FROM tailrace.query_events AS q "
        "JOIN tailrace.otel_traces AS s ON s.TraceId = q.trace_id AND s.SpanId = q.span_id "
        "JOIN tailrace.otel_traces AS root ON root.TraceId = q.trace_id AND root.ParentSpanId = '' "
        "WHERE q.instance = 'traced-db'"
    )
    back = clickhouse.rows(
        "SELECT count() AS slow FROM tailrace.otel_traces AS s "
        "JOIN tailrace.query_events AS q ON q.query_id = s.query_id AND q.rule_set = s.rule_set "
        "WHERE s.ServiceName = 'shop' AND q.instance = 'traced-db'"
    )
    assert [(row["same_statement"], row["endpoint"]) for row in found] == [(1, "GET /orders/{id}")] * 2
    assert back == [{"slow": 4}]
    times = "SELECT uniqExact(TraceId) AS traces FROM tailrace.otel_traces_trace_id_ts"
    # A view writes to its table after the spans can be read.
    wait_until(lambda: clickhouse.rows(times)[0]["traces"] >= 2, "the times of both traces")
    assert_holds_no_literal(stack)


def test_a_statement_that_is_in_no_log_has_its_text_from_its_spans(stack):
    application = Application("untold")
    application.statement("SELECT name FROM told_by_spans7 WHERE id = 7")
    send(stack.settings, as_protobuf(application.messages()))

    asked = (
        "SELECT fingerprint, verb, tables_read FROM tailrace.fingerprints FINAL "
        "WHERE query_id IN (SELECT query_id FROM tailrace.otel_traces WHERE ServiceName = 'untold')"
    )
    wait_until(lambda: stack.clickhouse().rows(asked), "the fingerprint")
    (text,) = stack.clickhouse().rows(asked)
    assert text == {
        "fingerprint": "select name from told_by_spans? where id = ?",
        "verb": "SELECT",
        "tables_read": ["told_by_spans?"],
    }


def assert_holds_no_literal(stack: Stack) -> None:
    """Neither the card number nor the password is in the table of spans."""
    rows = stack.clickhouse().rows(
        "SELECT count() AS leaks FROM tailrace.otel_traces "
        "WHERE position(toString(tuple(*)), {card:String}) > 0 "
        "OR position(toString(tuple(*)), {word:String}) > 0",
        {"card": CARD, "word": PASSWORD},
    )
    assert rows == [{"leaks": 0}]


@contextmanager
def sending(stack: Stack, application: Application, counts: list[int]) -> Iterator[None]:
    """Sends requests' spans continuously; `counts` receives the number in each message."""
    done = Event()

    def run() -> None:
        while not done.wait(0.25):
            for order in range(20):
                application.request(order)
            counts.append(len(application.finished.get_finished_spans()))
            encode = as_protobuf if len(counts) % 2 else as_json
            send(stack.settings, encode(application.messages()))

    thread = Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def assert_stored_once(stack: Stack, service: str, sent: int) -> None:
    """Waits until as many spans of the service are stored as were sent."""
    wait_until(lambda: count(stack, service)["stored"] >= sent, f"{sent} spans")
    assert count(stack, service) == {"stored": sent, "distinct_spans": sent}


def test_an_invalid_span_becomes_a_dead_letter(stack):
    application = Application("after-bad-input")
    application.request(order=1)
    good = as_protobuf(application.messages())
    deep = b'{"resourceSpans":' + b"[" * 100_000
    large = b'{"resourceSpans":[{"x":"' + b"y" * 10_000_000 + b'"'
    send(stack.settings, b"hello", good[: len(good) // 2], deep, large, b"[]", good)

    wait_until(lambda: count(stack, "after-bad-input")["stored"] == 5, "the good message")
    letters = "SELECT count() AS n FROM tailrace.dead_letters WHERE log LIKE 'kafka:otlp_spans/%'"
    wait_until(lambda: stack.clickhouse().rows(letters)[0]["n"] >= 5, "the dead letters")
    assert stack.clickhouse().rows(letters) == [{"n": 5}]

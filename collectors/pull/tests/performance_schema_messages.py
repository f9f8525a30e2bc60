"""Messages with records of OpenTelemetry's mysqlreceiver and of Grafana Alloy, in their published forms."""

from collections.abc import Mapping, Sequence

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from otlp_messages import as_json, pairs

from tailrace_pull.config import Entry

DIGEST = "c16f24f908846019a741db580f6545a5933e9435a7cf1579c50794a6ca287739"
AT = 1_795_000_000_123_456_000
"""In nanoseconds since 1970 UTC."""
ENDPOINT = "db-1:3306"
ALLOY_JOB = "integrations/db-o11y"


def event(name: str, attributes: Mapping[str, str | int | float], at: int = AT) -> LogRecord:
    """Returns an event of mysqlreceiver, whose body is an empty map."""
    values = [KeyValue(key=key, value=_value(value)) for key, value in attributes.items()]
    body = AnyValue()
    body.kvlist_value.SetInParent()
    return LogRecord(event_name=f"db.server.{name}", attributes=values, time_unix_nano=at, body=body)


def _value(value: str | int | float) -> AnyValue:
    if isinstance(value, str):
        return AnyValue(string_value=value)
    return AnyValue(int_value=value) if isinstance(value, int) else AnyValue(double_value=value)


def top_query(statements: int, seconds: float = 0.25, at: int = AT, **more: str | int) -> LogRecord:
    """`more` are attributes without their prefix."""
    prefix = "mysql.events_statements_summary_by_digest."
    given = {"digest": DIGEST, "count_star": statements, "sum_timer_wait": seconds, **more}
    attributes = {"db.system.name": "mysql", "db.namespace": "shop", "db.query.text": "SELECT ? FROM t"}
    return event("top_query", {**attributes, **{prefix + name: value for name, value in given.items()}}, at)


def running(thread: int, at: int = AT, **more: str | int | float) -> LogRecord:
    """Returns a query sample of mysqlreceiver."""
    attributes = {
        "db.system.name": "mysql",
        "mysql.threads.thread_id": thread,
        "user.name": "app",
        "db.namespace": "shop",
        "mysql.threads.processlist_command": "Query",
        "mysql.threads.processlist_state": "executing",
        "db.query.text": "SELECT secret FROM t",
        "mysql.events_statements_current.digest": DIGEST.upper(),
        "mysql.events_statements_current.timer_wait": 1.5,
        "mysql.event_id": 17,
        "mysql.wait_type": "wait/io/table/sql/handler",
        "mysql.events_waits_current.timer_wait": 0.0,
        "client.address": "10.0.0.7",
    }
    return event("query_sample", {**attributes, **more}, at)


def alloy(op: str, line: str, at: int = AT, read_at: int = AT + 5_000_001) -> LogRecord:
    """Returns a line of Alloy, as `otelcol.receiver.loki` converts it."""
    labels = {"job": ALLOY_JOB, "instance": ENDPOINT, "server_id": "1", "op": op}
    return LogRecord(
        body=AnyValue(string_value=f'level="info" {line}'),
        attributes=pairs({"loki.attribute.labels": "job,instance,server_id,op", **labels}),
        time_unix_nano=at,
        observed_time_unix_nano=read_at,
    )


FINISHED = (
    'schema="{schema}" user="{user}" client_host="web-1" '
    'thread_id="{thread}" event_id="24" end_event_id="31" '
    'digest="{digest}" rows_examined="7" rows_sent="1" rows_affected="0" errors="0" mysql_errno="0" '
    'returned_sqlstate="" max_controlled_memory="0b" max_total_memory="0b" cpu_time="0.000000ms" '
    'elapsed_time="12.500000ms" elapsed_time_ms="12.500000ms"'
)


def finished(
    thread: int, more: str = "", at: int = AT, digest: str = DIGEST, schema: str = "shop", user: str = "app"
) -> LogRecord:
    """Returns a query sample of Alloy. `more` is what follows with redaction disabled, or a traceparent."""
    line = FINISHED.format(thread=thread, digest=digest, schema=schema, user=user)
    return alloy("query_sample", line + more, at)


def message(records: Sequence[LogRecord], encoding: str = "otlp_proto", endpoint: str = ENDPOINT) -> bytes:
    """Returns the records of one server."""
    request = ExportLogsServiceRequest()
    resource = request.resource_logs.add()
    resource.resource.attributes.extend(
        pairs({"mysql.instance.endpoint": endpoint, "service.instance.id": "db-1"})
    )
    resource.scope_logs.add().log_records.extend(records)
    return request.SerializeToString() if encoding == "otlp_proto" else as_json(request)


def entry(**more: str) -> Entry:
    """Returns an entry of the list of logs."""
    keys = {"url": "kafka://k1:9092/otlp_logs", "match": f"mysql.instance.endpoint={ENDPOINT}"}
    return Entry("db-1", "shop", "performance_schema", "otlp", **{**keys, **more})

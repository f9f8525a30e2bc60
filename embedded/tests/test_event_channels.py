"""The keys of outputs in alerts.yaml: mistakes are reported with their line and the fix."""

import pytest
import yaml

from tailrace.alerts.delivery import config
from tailrace.config.yaml_reader import ConfigurationError

UUID = "01234567-89ab-cdef-0123-456789abcdef"
SPLUNK = {
    "kind": "splunk",
    "url": "https://splunk.example.com/services/collector/event",
    "secret_file": "secret",
}
SEARCH = {"kind": "elasticsearch", "url": "https://search.example.com:9200", "index": "logs-tailrace-default"}
KAFKA = {"kind": "kafka", "brokers": "kafka.example.com:9093", "topic": "mysql"}
LAKE = {"kind": "s3", "bucket": "lake", "region": "eu-central-1", "account_id": 12 * "1"}
AZURE = {
    "kind": "sentinel",
    "url": "https://x.ingest.monitor.azure.com",
    "rule": "dcr-" + 32 * "0",
    "stream": "Custom-Tailrace_CL",
    "tenant": UUID,
    "client_id": UUID,
    "secret_file": "secret",
}
GOOGLE = {"kind": "google_secops", "customer_id": UUID, "log_type": "TAILRACE", "secret_file": "secret"}


@pytest.fixture
def load(tmp_path):
    """Loads a file with these channels, named x0, x1, …, and these events."""
    (tmp_path / "secret").write_text("the secret key")

    def read(*channels: dict, events: list[dict] | None = None) -> config.DeliveryConfig:
        listed = [{"name": f"x{number}", **channel} for number, channel in enumerate(channels)]
        content = {"channels": listed, **({} if events is None else {"events": events})}
        (tmp_path / "alerts.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
        return config.load(tmp_path / "alerts.yaml")

    return read


def test_the_events_of_a_channel_have_defaults(load):
    (channel,) = load(SPLUNK, events=[{"channel": "x0"}]).events
    assert (channel.format, channel.begins, channel.parallel, channel.processes) == ("ecs", "now", 4, 1)
    assert set(channel.kinds) == {"login", "query", "data_access", "error", "server"}
    assert load(LAKE, events=[{"channel": "x0", "batch_interval": "5m"}]).events[0].format == "ocsf"


@pytest.mark.parametrize(
    ("channel", "changes", "message"),
    [
        (SEARCH, {"index": "Logs"}, r"x: `index` must be the name of an index .* in lower case.*\(line 5\)"),
        (SEARCH, {"user": "tailrace"}, r"x: `user` needs `secret_file`, a file with the password \(line 6\)"),
        (
            SEARCH,
            {"secret_file": "secret", "url": "http://a.example"},
            r"`url` must begin with https://.*\(line 4\)",
        ),
        (SEARCH, {"indx": "a"}, r"unknown key 'indx'; the nearest known one is 'index' \(line 6\)"),
        (
            SPLUNK,
            {"indexer_ack": True, "url": "https://a.example/x"},
            "must end with /services/collector/event",
        ),
        (SPLUNK, {"indexer_ack": "yes"}, r"`indexer_ack` must be true or false, not 'yes' \(line 6\)"),
        (SPLUNK, {"secret_file": "missing"}, r"`secret_file`: .*No such file.*\(line 5\)"),
        (SPLUNK, {"format": "cef"}, r"`format` must be one of ecs, ocsf, not 'cef' \(line 6\)"),
        (KAFKA, {"user": "a", "secret_file": "secret", "security": "none"}, "`user` needs `security: tls`"),
        (KAFKA, {"user": "a"}, "`secret_file` is missing"),
        (LAKE, {"account_id": 123456789012}, "`account_id` must be 12 digits in quotes, or external"),
        (
            LAKE,
            {"format": "ecs"},
            r"`file: parquet` needs `format: ocsf`; for other formats set `file: json`",
        ),
        (AZURE, {"rule": "tailrace"}, "`rule` must be the immutable id, dcr-…"),
        (AZURE, {"stream": "tailrace"}, "`stream` must be such as Custom-Tailrace_CL"),
        (GOOGLE, {"customer_id": "1"}, "`customer_id` must be the customer id, a UUID"),
    ],
)
def test_a_mistake_of_a_channel_has_a_line_and_a_fix(load, channel, changes, message):
    with pytest.raises(ConfigurationError, match=message.removeprefix("x: ")):
        load({**channel, **changes})


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ({"channel": "other"}, r"event 1: `channel`: 'other' is no channel .*: x0 \(line 7\)"),
        ({"channel": "x0", "kinds": ["logins"]}, "`kinds` must be one of login, query"),
        ({"channel": "x0", "format": "udm"}, "`format` must be one of ecs, ocsf, json, not 'udm'"),
        ({"channel": "x0", "from": "2026"}, "`from` must be one of now, earliest"),
        ({"kinds": ["login"]}, "`channel` is missing"),
    ],
)
def test_a_mistake_of_events_has_a_line_and_a_fix(load, events, message):
    with pytest.raises(ConfigurationError, match=message):
        load(SPLUNK, events=[events])


def test_a_chat_takes_no_events(load):
    with pytest.raises(ConfigurationError, match=r"'x0' is no channel for events; .*: none"):
        load({"kind": "slack", "secret_file": "secret"}, events=[{"channel": "x0"}])


def test_two_sections_of_one_channel_are_a_mistake(load):
    with pytest.raises(ConfigurationError, match="two channels are called events of x0"):
        load(SPLUNK, events=[{"channel": "x0"}, {"channel": "x0"}])


def test_parquet_without_its_package_is_a_mistake(load, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(
        ConfigurationError, match="`file: parquet` needs the package pyarrow; install it, or set"
    ):
        load(LAKE)
    assert load({**LAKE, "file": "json"}).channels[0].receiver.file == "json"

"""Receivers of cloud providers: a real S3 server, and receivers that check the published formats."""

import gzip
import io
import json
from collections.abc import Iterator
from pathlib import Path

import boto3
import pyarrow.parquet as pq
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from moto.server import ThreadedMotoServer

from e2e import event_messages as messages
from e2e.alert_rows import alert
from e2e.siem_receivers import AzureMonitor, Chronicle, serving
from tailrace.alerts.delivery import ocsf
from tailrace.forwarding.batch import Source
from tailrace.outputs.config import S3, GoogleSecOps, Sentinel
from tailrace.outputs.event_channels import KINDS, EventChannel
from tailrace.outputs.google_secops import GoogleSecOpsReceiver
from tailrace.outputs.record import DELIVERED, FAILED, REFUSED, Record
from tailrace.outputs.s3 import S3Receiver
from tailrace.outputs.sentinel import SentinelReceiver

UUID = "01234567-89ab-cdef-0123-456789abcdef"
RULE = "dcr-" + 32 * "0"
PARTITION = "region=eu-central-1/accountId=123456789012/eventDay=20260301"


@pytest.fixture
def secret(tmp_path) -> Path:
    file = tmp_path / "secret"
    file.write_text("the secret key\n")
    return file


def records(form: str, *given: bytes) -> list[Record]:
    """Returns the records of messages in a format."""
    source = Source(EventChannel(name="x", receiver=None, kinds=KINDS, format=form))
    return [source.record(message) for message in given]


def outcomes(receiver, given: list[Record]) -> list[str]:
    return [outcome.outcome for outcome in receiver.send(given)]


@pytest.fixture(scope="module")
def s3_server() -> Iterator[str]:
    server = ThreadedMotoServer(port=0)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host.replace('0.0.0.0', '127.0.0.1')}:{port}"
    server.stop()


@pytest.fixture
def bucket(s3_server, tmp_path) -> Iterator[tuple]:
    """A client and the receiver of a new bucket."""
    keys = {"aws_access_key_id": "AKIDEXAMPLE", "aws_secret_access_key": "secret"}
    client = boto3.client("s3", endpoint_url=s3_server, region_name="eu-central-1", **keys)
    name = tmp_path.name.replace("_", "-").lower()[-40:].strip("-")
    place = {"LocationConstraint": "eu-central-1"}
    client.create_bucket(Bucket=name, CreateBucketConfiguration=place)
    (tmp_path / "keys").write_text("AKIDEXAMPLE\nsecret\n")
    given = {"region": "eu-central-1", "account_id": "123456789012", "secret_file": tmp_path / "keys"}
    yield client, lambda **options: S3Receiver(S3(bucket=name, url=s3_server, **{**given, **options})), name


def objects(client, name: str) -> dict[str, bytes]:
    found = client.list_objects_v2(Bucket=name).get("Contents", [])
    return {each["Key"]: client.get_object(Bucket=name, Key=each["Key"])["Body"].read() for each in found}


def test_security_lake_gets_one_source_per_kind_with_the_same_columns(bucket):
    client, receiver, name = bucket
    given = records("ocsf", messages.query(1), messages.login(2), messages.write(3), messages.error(4))
    assert outcomes(receiver(), given) == [DELIVERED] * 4
    assert outcomes(receiver(), given) == [DELIVERED] * 4
    found = objects(client, name)
    assert [key.rpartition("/")[0] for key in sorted(found)] == [
        f"ext/tailrace-{kind}/{PARTITION}" for kind in ("data_access", "error", "login")
    ]
    tables = [pq.read_table(io.BytesIO(body)) for body in found.values()]
    assert len({tuple(table.schema.names) for table in tables}) == 1
    rows = [row for table in tables for row in table.to_pylist()]
    assert {row["metadata"]["uid"] for row in rows} == {messages.id_of(number) for number in range(1, 5)}
    by_class = {row["class_uid"]: row for row in rows}
    assert by_class[3002]["src_endpoint"]["port"] == 51_000
    assert json.loads(by_class[6005]["unmapped"])["verb"]


def test_no_attribute_of_a_finding_is_lost_in_parquet():
    from tailrace.outputs import parquet

    finding = ocsf.document(alert(late=False, detected_at="2026-03-01 10:00:00.25"), "https://t.example.com")
    (row,) = pq.read_table(io.BytesIO(parquet.encoded([finding]))).to_pylist()
    assert json.loads(row.pop("unmapped")) == finding.pop("unmapped")
    evidence, written = finding["evidences"][0], row["evidences"][0]
    assert json.loads(written.pop("data")) == evidence.pop("data")
    assert _without_nothing(row) == _without_nothing(finding)


def _without_nothing(value):
    if isinstance(value, dict):
        found = {key: _without_nothing(each) for key, each in value.items()}
        return {key: each for key, each in found.items() if each not in (None, {}, [])}
    return [_without_nothing(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("message", [messages.query, messages.login, messages.write, messages.error])
def test_no_attribute_of_an_event_is_lost_in_parquet(message):
    from tailrace.outputs import parquet

    (record,) = records("ocsf", message())
    (row,) = pq.read_table(io.BytesIO(parquet.encoded([record.document]))).to_pylist()
    unmapped = json.loads(row.pop("unmapped"))
    assert {**_without_nothing(row), "unmapped": unmapped} == _without_nothing(dict(record.document))


def test_lines_of_json_are_compressed_without_parquet(bucket):
    client, receiver, name = bucket
    given = records("json", messages.login(1), messages.login(2))
    assert outcomes(receiver(file="json", source="mysql"), given) == [DELIVERED] * 2
    ((key, body),) = objects(client, name).items()
    assert key.startswith(f"ext/mysql-login/{PARTITION}/") and key.endswith(".json.gz")
    assert [json.loads(line)["event_id"] for line in gzip.decompress(body).splitlines()] == [
        messages.id_of(1),
        messages.id_of(2),
    ]


def test_a_missing_bucket_and_a_stopped_server_are_failures(s3_server, bucket, tmp_path):
    given = {
        "region": "eu-central-1",
        "account_id": "1" * 12,
        "secret_file": tmp_path / "keys",
        "file": "json",
    }
    missing = S3Receiver(S3(bucket="is-missing", url=s3_server, **given))
    (outcome,) = missing.send(records("ocsf", messages.login()))
    assert outcome.outcome == FAILED and "NoSuchBucket" in outcome.detail
    with serving(lambda _: (200, None)) as url:
        pass
    stopped = S3Receiver(S3(bucket="any", url=url, **given))
    assert outcomes(stopped, records("ocsf", messages.login())) == [FAILED]


def sentinel(url: str, secret: Path) -> SentinelReceiver:
    given = {
        "rule": RULE,
        "stream": "Custom-Tailrace_CL",
        "tenant": UUID,
        "client_id": UUID,
        "login_url": url,
    }
    return SentinelReceiver(Sentinel(url=url, secret_file=secret, **given))


def test_sentinel_gets_rows_in_requests_below_its_limit(secret):
    azure = AzureMonitor(UUID, RULE)
    with serving(azure) as url:
        receiver = sentinel(url, secret)
        given = records("ecs", *(messages.login(number, program_name=400 * "x") for number in range(1500)))
        assert outcomes(receiver, given) == [DELIVERED] * 1500
        assert (len(azure.rows), azure.tokens) == (1500, 1) and len(azure.sizes) > 1
        azure.tokens += 1  # the service has revoked the token
        assert outcomes(receiver, given[:1]) == [FAILED]
        assert outcomes(receiver, given[:1]) == [DELIVERED]
    row = azure.rows[messages.id_of(1)]
    assert (row["Kind"], row["Host"], row["Format"]) == ("login", "shop-db-1", "ecs")
    assert row["Record"]["event"]["outcome"] == "success" and row["TimeGenerated"].startswith(
        "2026-03-01T10:00:00.250"
    )


def test_a_wrong_client_secret_refuses_no_record(secret):
    with serving(AzureMonitor(UUID, RULE, secret="another")) as url:
        (outcome,) = sentinel(url, secret).send(records("ecs", messages.login()))
    assert outcome.outcome == FAILED and "invalid_client" in outcome.detail


@pytest.fixture(scope="module")
def key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65_537, 2048)


@pytest.fixture
def chronicle(key, secret) -> Iterator[tuple[Chronicle, GoogleSecOpsReceiver]]:
    stored = Chronicle(key.public_key(), UUID)
    with serving(stored) as url:
        form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        account = {"token_uri": f"{url}/token", "client_email": "t@example.iam.gserviceaccount.com"}
        secret.write_text(json.dumps({**account, "private_key": key.private_bytes(*form).decode()}))
        given = {"customer_id": UUID, "log_type": "TAILRACE_CUSTOM", "secret_file": secret}
        yield stored, GoogleSecOpsReceiver(GoogleSecOps(url=url, **given))


def test_google_secops_gets_unstructured_entries(chronicle):
    stored, receiver = chronicle
    assert outcomes(receiver, records("ocsf", messages.login(1), messages.query(2))) == [DELIVERED] * 2
    assert [entry["class_uid"] for entry in stored.entries] == [3002, 6005]
    assert stored.claims["scope"].endswith("/auth/malachite-ingestion")
    assert stored.claims["exp"] - stored.claims["iat"] == 3600


def test_google_secops_gets_events_of_its_data_model(chronicle):
    stored, receiver = chronicle
    given = records(
        "udm", messages.login(1), messages.query(2), messages.error(3), messages.login(4, user="")
    )
    bad = Record("bad", 0, "", "login", "udm", {"metadata": {"event_type": "OTHER"}})
    assert outcomes(receiver, [*given, bad]) == [DELIVERED] * 4 + [REFUSED]
    types = {
        number: stored.events[messages.id_of(number)]["metadata"]["event_type"] for number in range(1, 5)
    }
    assert types == {1: "USER_LOGIN", 2: "USER_RESOURCE_ACCESS", 3: "GENERIC_EVENT", 4: "GENERIC_EVENT"}
    read = stored.events[messages.id_of(2)]
    assert read["target"]["resource"] == {"resource_type": "TABLE", "name": "shop.orders"}
    assert read["principal"]["user"] == {"userid": "app"} and read["principal"]["ip"] == ["10.1.20.17"]
    assert stored.events[messages.id_of(1)]["target"]["user"] == {"userid": "app"}


def test_a_file_that_is_no_key_is_a_failure(chronicle, secret):
    _, receiver = chronicle
    secret.write_text("{}")
    assert outcomes(receiver, records("ocsf", messages.login())) == [FAILED]

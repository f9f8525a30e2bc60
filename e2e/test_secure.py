"""A secured stack: all connections use TLS and passwords, and clients without permission are refused."""

import http.client
import json
import logging
import os
import shutil
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import (
    AclBinding,
    AdminClient,
    NewTopic,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from e2e.limits import LIMIT_SECONDS
from e2e.secured_stack import START_SECONDS, answer, secured, strangers
from e2e.stack import Stack, wait_until
from e2e.wait_for_idle import assert_exact, tailrace
from e2e.workload.writer import Workload
from tailrace.credentials.certificates import Certificates
from tailrace.kafka import accounts as kafka_accounts
from tailrace.kafka import client as kafka_client
from tailrace.kafka import topics
from tailrace.ledger import balance as ledger_balance
from tailrace_local import health
from tailrace_local import kafka as local_kafka
from tailrace_local.components.fluentbit import FluentBit
from tailrace_local.supervisor import control

FIRST_PORT = int(os.environ.get("SECURE_FIRST_PORT", "24200"))
PARTS = ("kafka", "clickhouse", "flink", "detect", "census", "fluentbit")
REFUSED_SECONDS = 10
"""A refused client tries again until then; one that should be refused, and is not, is answered before."""
LINES = "tailrace.slowlog.lines"


@pytest.fixture(scope="module")
def stack(tmp_path_factory) -> Iterator[Stack]:
    with secured(tmp_path_factory.mktemp("secure") / "home", FIRST_PORT, PARTS) as made:
        yield made


@pytest.fixture
def watched(stack: Stack, tmp_path: Path, request) -> Callable[[int], Workload]:
    def make(seed: int) -> Workload:
        workload = Workload(tmp_path / f"logs-{seed}", seed, f"{request.node.name}-{seed}")
        stack.watch(workload.logs)
        return workload

    return make


class Attempt:
    """One record offered to a topic: its result, and the log of the client."""

    def __init__(self, client: kafka_client.KafkaClient, topic: str = LINES) -> None:
        self.said: list[str] = []
        self.outcome: KafkaError | None = None
        self._delivered = False
        self._producer = Producer(
            client.settings({"message.timeout.ms": 600_000, "error_cb": self._note}), logger=self._logger()
        )
        self._producer.produce(topic, b"", on_delivery=self._on_delivery)

    def await_delivery(self) -> None:
        wait_until(lambda: self._polled() and self._delivered, "an answer of the broker")

    def await_saying(self, words: str) -> None:
        wait_until(lambda: self._polled() and any(words in line for line in self.said), f"{words!r}")
        assert not self._delivered

    def end(self) -> None:
        self._producer.purge()
        self._producer.flush(5)

    def _polled(self) -> bool:
        self._producer.poll(0.1)
        return True

    def _note(self, error: KafkaError) -> None:
        self.said.append(error.str())

    def _on_delivery(self, error: KafkaError | None, _: object) -> None:
        self._delivered, self.outcome = True, error

    def _logger(self) -> logging.Logger:
        logger = logging.Logger("attempt")
        handler = logging.Handler()
        handler.emit = lambda record: self.said.append(record.getMessage())  # type: ignore[method-assign]
        logger.addHandler(handler)
        return logger


@contextmanager
def attempt(client: kafka_client.KafkaClient, topic: str = LINES) -> Iterator[Attempt]:
    made = Attempt(client, topic)
    try:
        yield made
    finally:
        made.end()


def as_account(stack: Stack, account: str, **other: str) -> kafka_client.KafkaClient:
    """`other` properties, with _ for `.`; an empty one is left out."""
    client = local_kafka.connect(stack.settings, stack.home, account)
    changed = {name.replace("_", "."): value for name, value in other.items()}
    properties = {name: value for name, value in {**client.properties, **changed}.items() if value}
    return kafka_client.KafkaClient(client.address, properties)


def log_end(stack: Stack, component: str) -> int:
    return stack.home.log(component).stat().st_size


def await_logged(stack: Stack, component: str, since: int, words: str) -> None:
    def said() -> bool:
        with stack.home.log(component).open("rb") as log:
            log.seek(since if log.seek(0, os.SEEK_END) >= since else 0)
            return words.encode() in log.read()

    wait_until(said, f"{component} to say {words!r}")


def test_lines_become_rows_and_the_ledger_balances(stack, watched):
    workload = watched(seed=71)
    workload.write(500)
    workload.finish()
    assert_exact(stack, workload.manifests)
    for instance in {log.instance for log in workload.manifests}:
        # Rows of a checkpoint that is still being posted are stored, and not in the ledger yet.
        wait_until(lambda name=instance: _has_postings(stack, name), f"postings of {instance}")
        tailrace(stack, "ledger", "--instance", instance)


def _has_postings(stack: Stack, instance: str) -> bool:
    return bool(ledger_balance.read(stack.clickhouse(), instance).accounts)


def test_no_password_is_in_a_list_of_processes(stack):
    """Nor in the environment of anything but the collector, whose settings it is."""
    names = [name for name in os.listdir(stack.home.secrets) if (stack.home.secrets / name).is_file()]
    passwords = [stack.home.secret(name).encode() for name in names]
    assert len(passwords) > len(kafka_accounts.accounts())
    for component in control.status(stack.home).components:
        command = Path(f"/proc/{component.pid}/cmdline").read_bytes()
        environment = Path(f"/proc/{component.pid}/environ").read_bytes()
        assert not any(password in command for password in passwords), component.name
        if component.name != "fluentbit":
            assert not any(password in environment for password in passwords), component.name


def test_files_with_secrets_are_private(stack):
    for path in stack.home.secrets.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


def test_everything_listens_on_loopback_only(stack):
    pids = {component.pid for component in control.status(stack.home).components}
    shown = subprocess.run(["ss", "-Hltnp"], capture_output=True, text=True, check=True).stdout
    listeners = [line.split() for line in shown.splitlines()]
    own = [words for words in listeners if any(f"pid={pid}," in words[-1] for pid in pids)]
    assert len(own) >= len(PARTS)
    assert [words[3] for words in own if not words[3].startswith(("127.", "[::ffff:127.", "[::1]"))] == []


@pytest.mark.parametrize(
    ("change", "client_says", "broker_says"),
    [
        pytest.param(
            {"sasl_password": "wrong"},
            "invalid credentials with SASL mechanism SCRAM-SHA-512",
            "invalid credentials with SASL mechanism SCRAM-SHA-512",
            id="wrong password",
        ),
        pytest.param(
            {"sasl_username": "tailrace-nobody"},
            "invalid credentials with SASL mechanism SCRAM-SHA-512",
            "invalid credentials with SASL mechanism SCRAM-SHA-512",
            id="unknown account",
        ),
        pytest.param(
            {"sasl_mechanism": "PLAIN"},
            "Unsupported SASL mechanism: broker's supported mechanisms: SCRAM-SHA-512",
            "Unsupported SASL mechanism PLAIN",
            id="password in clear",
        ),
        pytest.param(
            {"security_protocol": "ssl"},
            "Disconnected",
            "Unexpected Kafka request of type METADATA during SASL handshake",
            id="no password",
        ),
        pytest.param(
            {"security_protocol": "plaintext"},
            "Disconnected: connection closed by peer",
            "SSL handshake failed",
            id="plaintext",
        ),
        pytest.param(
            {"security_protocol": "sasl_plaintext"},
            "Disconnected: connection closed by peer",
            "SSL handshake failed",
            id="password in plaintext",
        ),
    ],
)
def test_who_cannot_say_who_he_is_is_refused(stack, change, client_says, broker_says):
    since = log_end(stack, "kafka")
    with attempt(as_account(stack, "collector", **change)) as refused:
        refused.await_saying(client_says)
    await_logged(stack, "kafka", since, broker_says)


def test_a_broker_of_another_authority_is_not_believed(stack, tmp_path):
    since = log_end(stack, "kafka")
    wrong = str(strangers(tmp_path).trust)
    with attempt(as_account(stack, "collector", ssl_ca_location=wrong)) as refused:
        refused.await_saying("broker certificate could not be verified")
    await_logged(stack, "kafka", since, "SSL handshake failed")


def test_a_broker_under_another_name_is_not_believed(stack):
    right = as_account(stack, "collector")
    with (
        relayed(stack.settings.port_kafka) as elsewhere,
        attempt(kafka_client.KafkaClient(f"127.0.0.2:{elsewhere}", right.properties)) as refused,
    ):
        refused.await_saying("certificate verify failed")


@contextmanager
def relayed(port: int) -> Iterator[int]:
    """A TCP relay at 127.0.0.2 to a port of 127.0.0.1."""
    source = (
        "import asyncio, sys\n"
        "async def copy(a, b):\n"
        "    while data := await a.read(65536): b.write(data)\n"
        "    b.close()\n"
        "async def serve(r, w):\n"
        "    r2, w2 = await asyncio.open_connection('127.0.0.1', int(sys.argv[1]))\n"
        "    await asyncio.gather(copy(r, w2), copy(r2, w), return_exceptions=True)\n"
        "async def main():\n"
        "    server = await asyncio.start_server(serve, '127.0.0.2', 0)\n"
        "    print(server.sockets[0].getsockname()[1], flush=True)\n"
        "    await server.serve_forever()\n"
        "asyncio.run(main())\n"
    )
    relay = subprocess.Popen([sys.executable, "-c", source, str(port)], stdout=subprocess.PIPE, text=True)
    try:
        assert relay.stdout
        yield int(relay.stdout.readline())
    finally:
        relay.terminate()
        relay.wait()


def test_an_account_of_another_role_is_refused(stack):
    since = log_end(stack, "kafka")
    with attempt(as_account(stack, "facts")) as refused:
        refused.await_delivery()
    assert refused.outcome.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED
    await_logged(stack, "kafka", since, "User:tailrace-facts is Denied operation")


def test_reading_is_no_right_to_write(stack):
    with attempt(as_account(stack, "normalize")) as refused:
        refused.await_delivery()
    assert refused.outcome.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED


@pytest.mark.parametrize("account", kafka_accounts.accounts(), ids=lambda account: account.name)
def test_an_account_sees_its_own_topics_only(stack, account):
    client = AdminClient(as_account(stack, account.name).settings({}))
    seen = set(client.list_topics(timeout=LIMIT_SECONDS).topics)
    assert seen == {*account.read, *account.write} < {topic.name for topic in topics.load()}


def test_no_account_may_administer(stack):
    client = AdminClient(as_account(stack, "rules").settings({}))
    with pytest.raises(KafkaException) as refused:
        client.create_topics([NewTopic("mine", 1)])["mine"].result(LIMIT_SECONDS)
    assert refused.value.args[0].code() == KafkaError.TOPIC_AUTHORIZATION_FAILED
    other = UserScramCredentialUpsertion(
        "tailrace-collector", ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 8192), b"mine"
    )
    with pytest.raises(KafkaException) as refused:
        client.alter_user_scram_credentials([other])["tailrace-collector"].result(LIMIT_SECONDS)
    assert refused.value.args[0].code() == KafkaError.CLUSTER_AUTHORIZATION_FAILED


def test_a_right_that_is_not_listed_ends_with_the_next_start(stack):
    """What somebody has granted to an account of ours besides."""
    administration = AdminClient(local_kafka.administration(stack.settings, stack.home).settings({}))
    surplus = kafka_accounts.Account("facts", read=("tailrace.audit.lines",), write=(), groups=())

    def existing() -> set[AclBinding]:
        return set(administration.describe_acls(kafka_accounts.any_acl()).result(LIMIT_SECONDS))

    for granted in administration.create_acls(list(surplus.rights())).values():
        granted.result(LIMIT_SECONDS)
    # The controller answers before the broker has applied the change.
    wait_until(lambda: surplus.rights() <= existing(), "the surplus rights")
    kafka_accounts.apply_accounts(administration, kafka_accounts.accounts(), stack.home.secret)
    listed = set().union(*(account.rights() for account in kafka_accounts.accounts()))
    wait_until(lambda: existing() == listed, "the listed rights only")


def test_administration_needs_a_certificate_of_this_stack(stack, tmp_path):
    right = local_kafka.administration(stack.settings, stack.home)
    wrong = str(strangers(tmp_path).file("admin"))
    stranger = {"ssl.certificate.location": wrong, "ssl.key.location": wrong}
    for properties in (
        {**right.properties, **stranger},
        {name: right.properties[name] for name in ("security.protocol", "ssl.ca.location")},
    ):
        since = log_end(stack, "kafka")
        with attempt(kafka_client.KafkaClient(right.address, properties)) as refused:
            refused.await_saying("SSL")
        await_logged(stack, "kafka", since, "SSL handshake failed")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"TAILRACE_KAFKA_SASL_PASSWORD": "wrong"}, "invalid credentials with SASL mechanism"),
        ({"TAILRACE_KAFKA_CA_FILE": "stranger"}, "certificate verify failed"),
        ({"TAILRACE_KAFKA_SECURITY_PROTOCOL": "plaintext"}, "incorrect security.protocol configuration"),
    ],
    ids=["wrong password", "wrong authority", "plaintext"],
)
def test_a_collector_says_why_it_is_refused(stack, tmp_path, change, said):
    """Fluent Bit, with the files that it always runs."""
    component = FluentBit(stack.settings, stack.home)
    if "TAILRACE_KAFKA_CA_FILE" in change:
        change = {"TAILRACE_KAFKA_CA_FILE": str(strangers(tmp_path / "stranger").trust)}
    configuration, state = tmp_path / "tailrace.conf", tmp_path / "state"
    state.mkdir()
    written = Path(component.command()[-1]).read_text()
    configuration.write_text(written)
    port = {"TAILRACE_HEALTH_PORT": str(FIRST_PORT + 9)}
    log = tmp_path / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [component.program(), "-c", configuration],
            env={**os.environ, **component.environment(), **port, "TAILRACE_STATE": str(state), **change},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            wait_until(lambda: said in log.read_text(errors="replace"), f"Fluent Bit: {said!r}")
        finally:
            process.kill()
            process.wait()


def test_a_job_with_a_wrong_password_says_so_and_loses_nothing(stack, watched):
    workload = watched(seed=72)
    workload.write(100)
    secret = stack.home.secret_file(kafka_accounts.password_name("normalize"))
    right = secret.read_text()
    since = log_end(stack, "flink")
    try:
        with stack.without("flink"):
            secret.write_text("wrong")
        workload.write(100)
        workload.finish()
        await_logged(stack, "flink", since, "Authentication failed during authentication due to invalid")
    finally:
        secret.write_text(right)  # at once: each further start with the wrong one costs CPU-seconds
    stack.await_healthy()
    assert_exact(stack, workload.manifests)


@pytest.mark.parametrize("component", ["flink", "detect"])
def test_flinks_rest_interface_answers_the_stack_only(stack, component, tmp_path):
    certificates = Certificates(stack.home)
    address = stack.status(component).address
    jobs = json.load(answer(f"{address}/jobs/overview", certificates.client("admin")))["jobs"]
    assert jobs
    for nobody in (certificates.client(), certificates.client("superset")):
        with pytest.raises((OSError, http.client.HTTPException)) as refused:
            answer(f"{address}/jobs/overview", nobody).read()
        assert not isinstance(refused.value, urllib.error.HTTPError)
    stranger = certificates.client()
    stranger.load_cert_chain(strangers(tmp_path).file("admin"))
    with pytest.raises((OSError, http.client.HTTPException)):
        answer(f"{address}/jobs/overview", stranger).read()
    with pytest.raises((OSError, http.client.HTTPException)):
        answer(address.replace("https", "http"), None).read()


def test_metrics_ask_the_jobs_with_the_stacks_certificate(stack):
    def up(metric: str) -> dict[str, float]:
        """The value by job."""
        told = {each.name: each.samples for each in health.own_metrics(stack.settings, stack.home)}
        return {sample.labels.get("job", ""): sample.value for sample in told[metric]}

    # A job that does not answer within two seconds is reported as down.
    wait_until(lambda: up("tailrace_job_up") == {"flink": 1, "detect": 1}, "both jobs to be up")
    wait_until(lambda: up("tailrace_ledger_up") == {"": 1}, "the ledger to be read")


@pytest.mark.parametrize("component", ["flink", "detect"])
def test_who_has_a_certificate_looks_and_submits_nothing(stack, component):
    context = Certificates(stack.home).client("admin")
    features = json.load(answer(f"{stack.status(component).address}/config", context))["features"]
    assert features == {**features, "web-submit": False, "web-cancel": False, "web-rescale": False}
    with pytest.raises(urllib.error.HTTPError) as refused:
        answer(f"{stack.status(component).address}/jars", context)
    assert refused.value.code == http.HTTPStatus.NOT_FOUND


def test_clickhouse_wants_a_password(stack):
    nobody = urllib.request.Request(
        f"{stack.status('clickhouse').address}/?query=SELECT+1", headers={"X-ClickHouse-User": "writer"}
    )
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(nobody, timeout=LIMIT_SECONDS, context=Certificates(stack.home).client())
    assert "Authentication failed" in refused.value.read().decode()


def test_clickhouse_answers_over_tls_only(stack, tmp_path):
    """sql/tests/test_clickhouse_tls.py has the other ports, names and clients that break off."""
    server = stack.clickhouse()
    assert server.url == f"https://127.0.0.1:{stack.settings.port_clickhouse}"
    with pytest.raises((OSError, http.client.HTTPException)):
        replace(server, url=server.url.replace("https", "http")).execute("SELECT 1", timeout=LIMIT_SECONDS)
    with pytest.raises(OSError, match="certificate verify failed"):
        replace(server, authorities=str(strangers(tmp_path).trust)).execute("SELECT 1")


def test_backtests_read_clickhouse_over_tls(stack):
    """The command runs in a JVM."""
    tailrace(stack, "rules", "backtest", "--since", "1h")


def test_commands_have_accounts_of_their_own(stack, tmp_path):
    rules = tmp_path / "rules"
    shutil.copytree(Path(__file__).parents[1] / "rules", rules)
    assert "active: " in tailrace(stack, "rules", "push", str(rules), "--wait", str(LIMIT_SECONDS))
    tailrace(stack, "backfill", "--dry-run")
    tailrace(
        stack,
        "alerts",
        "suppress",
        "--rule",
        "11111111-1111-1111-1111-111111111111",
        "--for",
        "1h",
        "--reason",
        "test",
    )


def administrator(
    certificates: Certificates, stack: Stack, file: Path, trust: Path
) -> kafka_client.KafkaClient:
    return kafka_client.KafkaClient(
        f"127.0.0.1:{stack.settings.port_kafka_internal}",
        {
            "security.protocol": "ssl",
            "ssl.ca.location": str(trust),
            "ssl.certificate.location": str(file),
            "ssl.key.location": str(file),
        },
    )


def reaches(client: kafka_client.KafkaClient) -> bool:
    return bool(AdminClient(client.settings({"log_level": 0})).list_topics(timeout=LIMIT_SECONDS).topics)


def is_refused(client: kafka_client.KafkaClient) -> bool:
    try:
        AdminClient(client.settings({"log_level": 0})).list_topics(timeout=REFUSED_SECONDS)
    except KafkaException:
        return True
    return False


class Replaced:
    """The administration's certificate, the authority and a password, as they were."""

    def __init__(self, stack: Stack, directory: Path) -> None:
        self.stack = stack
        self.certificates = Certificates(stack.home)
        self.file, trust = directory / "admin.pem", directory / "trust.pem"
        shutil.copy(self.certificates.file("admin"), self.file)
        shutil.copy(self.certificates.trust, trust)
        self.administration = administrator(self.certificates, stack, self.file, trust)
        self.account = as_account(stack, "collector")

    def administration_that_knows_the_new_authority(self) -> kafka_client.KafkaClient:
        return administrator(self.certificates, self.stack, self.file, self.certificates.trust)

    def replace_passwords(self) -> None:
        for account in kafka_accounts.accounts():
            self.stack.home.replace_secret(kafka_accounts.password_name(account.name))

    def assert_refused(self) -> None:
        assert is_refused(self.administration_that_knows_the_new_authority())
        assert reaches(local_kafka.administration(self.stack.settings, self.stack.home))
        trust = {"ssl.ca.location": str(self.certificates.trust)}
        account = kafka_client.KafkaClient(self.account.address, {**self.account.properties, **trust})
        with attempt(account) as refused:
            refused.await_saying("invalid credentials with SASL mechanism SCRAM-SHA-512")


def await_more(workload: Workload) -> None:
    before = workload.entries
    wait_until(lambda: workload.entries >= before + 100, "entries after the change")


def test_an_old_authority_and_old_passwords_are_refused_while_logs_grow(stack, watched, tmp_path):
    """The broker and the jobs start once for all that is new; the next test has them start for each step."""
    old = Replaced(stack, tmp_path)
    workload = watched(seed=73)
    with workload.writing(rate=50):
        tailrace(stack, "credentials", "authority", seconds=START_SECONDS)
        assert reaches(old.administration)
        old.certificates.renew()
        old.replace_passwords()
        tailrace(stack, "credentials", "retire", seconds=START_SECONDS)
        old.assert_refused()
        await_more(workload)
    assert_exact(stack, workload.manifests)


@pytest.mark.long
def test_certificates_and_passwords_are_replaced_step_by_step_while_logs_grow(stack, watched, tmp_path):
    old = Replaced(stack, tmp_path)
    workload = watched(seed=74)
    with workload.writing(rate=50):
        tailrace(stack, "credentials", "authority", seconds=START_SECONDS)
        assert reaches(old.administration)
        tailrace(stack, "credentials", "renew", seconds=START_SECONDS)
        # An old certificate is good until its authority is retired; who does not know the new one sees a
        # stranger.
        assert is_refused(old.administration)
        assert reaches(old.administration_that_knows_the_new_authority())
        old.replace_passwords()
        tailrace(stack, "credentials", "retire", seconds=START_SECONDS)
        old.assert_refused()
        await_more(workload)
    assert_exact(stack, workload.manifests)

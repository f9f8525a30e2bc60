"""Fixtures of a test stack, and of the chart's workloads rendered for it, as pods of podman.

Import them with the images that they are made of (built_images.py).
"""

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pymysql
import pytest

from docker.tests import pods, rendering
from docker.tests.podman import Podman
from docker.tests.workloads import NODE, Volumes, Workloads
from e2e import object_store
from e2e.attack_day import mariadb
from e2e.object_store import ObjectStore
from e2e.receivers import WebReceiver, web_receiver
from e2e.siem_receivers import Bulk, serving
from e2e.stack import PORTS, Stack
from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.evidence import signing
from tailrace.signing import local_key
from tailrace.signing.registry import Registry
from tailrace.transparency import keys
from tailrace_verify import notes
from tailrace_verify.notes import Key

FIRST_PORT = int(os.environ.get("E2E_FIRST_PORT", "24600")) + 300
RECEIVER_PORT, SEARCH_PORT, DATABASE_PORT, STORE_PORT = (
    FIRST_PORT + len(PORTS) + number for number in (1, 2, 3, 4)
)
TAG = "tested"
PULLED = "shop-db-3"
"""The server whose log tables are pulled, which is also the one that capture asks."""
DATABASE_POD = "shop-db-0"
PULLER = "tailrace"
BUCKET = "archive"
CALLBACK_SECRET = "the secret of callbacks"


@pytest.fixture(scope="module")
def podman(buildah, directory: Path) -> Iterator[Podman]:
    """After buildah's fixture, which holds the lock of the images. Pods end before `directory` is removed."""
    missing = [name for name in ("podman", "runc", "catatonit") if not shutil.which(name)]
    assert not missing, f"apt-get install {' '.join(missing)}"
    runs = Podman(Settings.from_environment().cache / "images")
    yield runs
    runs.down()


@pytest.fixture(scope="module")
def directory() -> Iterator[Path]:
    """Readable by the users of containers, unlike pytest's directories."""
    made = Path(tempfile.mkdtemp(prefix="tailrace-containers-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


@pytest.fixture(scope="module")
def stack(directory: Path) -> Iterator[Stack]:
    made = Stack(directory / "home", FIRST_PORT, components=("kafka", "clickhouse"))
    made.up()
    yield made
    made.down()


@pytest.fixture(scope="module")
def images(buildah, tools: str, superset: str, flink_runtime: str, fluent_bit: str) -> dict[str, str]:
    """Our images by the chart's names, with a tag: the chart refuses images without a version."""
    built = {"tools": tools, "flink": flink_runtime, "superset": superset, "fluentBit": fluent_bit}
    for image in built.values():
        buildah("tag", image, f"{image}:{TAG}")
    return {name: f"{image}:{TAG}" for name, image in built.items()}


@pytest.fixture(scope="module")
def receiver() -> Iterator[WebReceiver]:
    with web_receiver(RECEIVER_PORT) as made:
        yield made


@pytest.fixture(scope="module")
def search() -> Iterator[Bulk]:
    """Receives forwarded events as Elasticsearch does."""
    made = Bulk()
    with serving(made, SEARCH_PORT):
        yield made


@pytest.fixture(scope="module")
def database(directory: Path) -> Iterator[mariadb.Server]:
    """A MariaDB whose slow log is a table, with the accounts of the puller and of capture."""
    assert os.geteuid() == 0, "Debian's packages are unpacked by root"
    installation = mariadb.Installation.install(Settings.from_environment().cache)
    server = mariadb.Server(
        installation, directory / "database", datetime.now(UTC), DATABASE_PORT, "127.0.0.1"
    )
    server.create()
    server.start("--log-output=TABLE")
    run(
        server,
        f"CREATE USER {PULLER}@'127.0.0.1' IDENTIFIED BY 'x'",
        f"GRANT SELECT ON mysql.slow_log TO {PULLER}@'127.0.0.1'",
        "CREATE DATABASE shop",
        "CREATE TABLE shop.orders (id INT PRIMARY KEY, sum INT)",
        "INSERT INTO shop.orders VALUES (1, 20), (2, 30)",
        f"GRANT SELECT ON shop.* TO {PULLER}@'127.0.0.1'",
    )
    yield server
    server.stop()


def run(server: mariadb.Server, *statements: str) -> None:
    """Runs statements as root in one session."""
    with (
        pymysql.connect(unix_socket=str(server.socket), user="root") as connection,
        connection.cursor() as cursor,
    ):
        for statement in statements:
            cursor.execute(statement)


@pytest.fixture(scope="module")
def store(directory: Path) -> Iterator[ObjectStore]:
    """An empty object store of the archive."""
    made = ObjectStore(directory, STORE_PORT)
    with made.running():
        made.make_bucket(BUCKET)
        yield made


@dataclass(frozen=True)
class SigningKeys:
    """Public keys of the transparency log and of its witness; their private keys are files."""

    log: Key
    witness: Key
    files: dict[str, str]
    """Contents of the private keys by the names of their files."""
    hosts: dict[str, str]
    """The private keys of the node and of the pod of a database, in the same form."""
    registered: str
    """Their public keys, as in schemas/host-keys.schema.json."""


@pytest.fixture(scope="module")
def signing_keys(directory: Path) -> SigningKeys:
    files = {}
    for name in (keys.LOG_KEY, keys.WITNESS_KEY):
        files[name] = keys.new_pem()
        (directory / name).write_text(files[name])
    log, witness = (signing.read_private(directory / name) for name in files)
    registry, hosts = Registry(Home(directory / "registry")), {}
    for name in (NODE, DATABASE_POD):
        file = directory / f"{name}.pem"
        hosts[file.name] = keys.new_pem()
        file.write_text(hosts[file.name])
        registry.add(name, local_key.public_key(file))
    return SigningKeys(
        notes.key_of("tailrace/containers", log),
        notes.key_of("witness.example.com/w1", witness, notes.COSIGNATURE),
        files,
        hosts,
        registry.text(),
    )


@pytest.fixture(scope="module")
def secrets(receiver: WebReceiver, search: Bulk, signing_keys) -> dict[str, dict[str, str]]:
    """The keys of secrets that the chart names, apart from passwords."""
    channels = [
        {"name": "siem", "kind": "webhook", "url": receiver.url, "secret_file": "secret", "min_level": "low"},
        {"name": "search", "kind": "elasticsearch", "url": f"http://127.0.0.1:{SEARCH_PORT}"}
        | {"index": "events", "alerts": False},
    ]
    server = {"cluster": "shop", "instance": PULLED, "dsn": f"mysql://{PULLER}@127.0.0.1:{DATABASE_PORT}/"}
    source = {"name": "tickets", "kind": "webhook", "secret_file": "secret"}
    option_file = f"[client]\nhost=127.0.0.1\nport={DATABASE_PORT}\nuser={PULLER}\npassword=x\n"
    return {
        "tailrace-alerts": {
            "alerts.yaml": json.dumps({"channels": channels, "events": [{"channel": "search"}]}),
            "secret": "secret",
        },
        "tailrace-callbacks": {
            "callbacks.yaml": json.dumps({"sources": [source]}),
            "secret": CALLBACK_SECRET,
        },
        "tailrace-capture": {
            **dict.fromkeys(
                ("servers.json", "explain.json"),
                json.dumps([{**server, "password_file": "/etc/tailrace/capture/password"}]),
            ),
            "password": "x",
        },
        "tailrace-host-keys": signing_keys.hosts,
        "tailrace-evidence": {"evidence-ed25519.pem": keys.new_pem()},
        "tailrace-servers": {"puller.cnf": option_file},
        "tailrace-transparency": {keys.LOG_KEY: signing_keys.files[keys.LOG_KEY]},
        "tailrace-witness": {keys.WITNESS_KEY: signing_keys.files[keys.WITNESS_KEY]},
    }


@pytest.fixture(scope="module")
def workloads(stack: Stack, directory: Path, images: dict[str, str], signing_keys) -> Workloads:
    given = rendering.values(stack, directory, images)
    given["collector"] |= {
        "repair": {"enabled": True},
        "signing": {"secret": "tailrace-host-keys", "hostKeys": json.loads(signing_keys.registered)},
    }
    log = {"instance": PULLED, "cluster": "shop", "source": "slowlog", "kind": "table"}
    more = {
        **{name: {"enabled": True} for name in ("delivery", "forwarding", "callbacks")},
        "capture": {"enabled": True, "explain": True},
        "serviceMonitors": True,
        "superset": {"evidence": {"enabled": True}},
        "pull": {
            "enabled": True,
            "serversSecret": "tailrace-servers",
            "logs": [{**log, "defaults_file": "/etc/tailrace/servers/puller.cnf"}],
        },
        "transparency": {
            "enabled": True,
            "origin": signing_keys.log.name,
            "witnesses": [{"url": "http://127.0.0.1:18092", "key": signing_keys.witness.vkey()}],
            "interval": 5,
        },
        "witness": {
            "enabled": True,
            "name": signing_keys.witness.name,
            "logs": [signing_keys.log.vkey()],
        },
    }
    return rendering.render(directory / "services.yaml", {**given, **more})


@pytest.fixture(scope="module")
def archiving(stack: Stack, directory: Path, archive: str, buildah) -> Workloads:
    """The workloads of a release without a transparency log, with an archive. Only its image is built."""
    buildah("tag", archive, f"{archive}:{TAG}")
    made = {
        "enabled": True,
        "image": f"{archive}:{TAG}",
        "address": f"s3://{BUCKET}/shop",
        "endpoint": f"http://127.0.0.1:{STORE_PORT}",
        "region": object_store.REGION,
        "keysSecret": "tailrace-archive",
    }
    given = rendering.values(stack, directory, images={})
    return rendering.render(directory / "archive.yaml", {**given, "archive": made})


@pytest.fixture(scope="module")
def play(podman: Podman, workloads, stack, directory: Path, secrets) -> Callable[[str, str], str]:
    """Starts the pod of a workload; returns its name."""

    def started(kind: str, name: str) -> str:
        volumes = Volumes(directory / "volumes" / name, workloads, stack.home, secrets)
        return podman.play(pods.pod(workloads[kind, name], volumes, NODE), directory)

    return started

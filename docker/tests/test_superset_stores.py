"""Superset's metadata in a real PostgreSQL and its caches in a real Redis, by the driver of our image."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from docker.tests.conftest import DOCKER, ToOutput
from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace_local.components.superset import METADATA, Superset

pytestmark = [pytest.mark.long, pytest.mark.timeout(1800)]

START_SECONDS = 120
ASKING = """
import json
from superset.app import create_app
with create_app().app_context():
    from superset import db, security_manager
    from superset.extensions import cache_manager
    cache_manager.data_cache.set("asked", "kept", timeout=60)
    admin = security_manager.find_user("admin")
    print("\\n" + json.dumps([db.engine.dialect.name, [role.name for role in admin.roles]]))
"""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


@contextmanager
def listening(port: int, *command: str | Path) -> Iterator[None]:
    """A server's process, from when it takes connections until it has ended."""
    process = subprocess.Popen(command)
    try:
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert process.poll() is None, command
                assert time.monotonic() < deadline, command
                time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(START_SECONDS)


@pytest.fixture(scope="module")
def redis_port() -> Iterator[int]:
    port = free_port()
    assert shutil.which("redis-server"), "apt-get install redis-server"
    with listening(
        port,
        "redis-server",
        "--port",
        str(port),
        "--bind",
        "127.0.0.1",
        "--save",
        "",
        "--requirepass",
        "secret",
    ):
        yield port


@pytest.fixture(scope="module")
def postgres_port(tmp_path_factory) -> Iterator[int]:
    """A PostgreSQL without passwords; it refuses to run as root."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    assert found, "apt-get install postgresql"
    programs, port = found[-1].parent, free_port()
    data = Path("/var/tmp") / f"tailrace-postgres-{port}"  # where its user may go
    data.mkdir()
    shutil.chown(data, "postgres")
    as_postgres = ("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups")
    try:
        initialise = [*as_postgres, programs / "initdb", "--auth=trust", "--no-sync", "--encoding=UTF8", data]
        subprocess.run(initialise, check=True, stdout=subprocess.DEVNULL, cwd="/")
        options = ("-D", data, "-p", str(port), "-h", "127.0.0.1", "-k", data, "-c", "fsync=off")
        with listening(port, *as_postgres, programs / "postgres", *options):
            yield port
    finally:
        shutil.rmtree(data)


@pytest.fixture(scope="module")
def superset(redis_port, postgres_port, tmp_path_factory) -> tuple[Path, dict[str, str]]:
    """The embedded Superset's Python, and the environment of one with these stores."""
    root = tmp_path_factory.mktemp("superset")
    settings = Settings.from_environment({"HOME": os.environ["HOME"], "TAILRACE_HOME": str(root / "home")})
    component = Superset(settings, Home(settings.home))
    if not component.installed():
        component.install(ToOutput())
    driver = root / "driver"
    install = ["pip", "install", "--quiet", "--require-hashes", "--no-deps", "--target", driver]
    lock = DOCKER / "superset" / "requirements.lock"
    subprocess.run([component.python(), "-m", *install, "--requirement", lock], check=True)
    files = {
        "SUPERSET_METADATA_URI_FILE": f"postgresql+psycopg2://postgres@127.0.0.1:{postgres_port}/postgres",
        "SUPERSET_REDIS_URL_FILE": f"redis://:secret@127.0.0.1:{redis_port}/0",
    }
    for name, content in files.items():
        (root / name).write_text(f"{content}\n")
    environment = {**os.environ, **component.environment(), **{name: str(root / name) for name in files}}
    environment["PYTHONPATH"] += f":{driver}"
    return component.python(), environment


def test_servers_that_start_at_once_share_metadata_and_caches(superset, redis_port, tmp_path):
    python, environment = superset
    password = tmp_path / "password"
    password.write_text("secret of admin")
    for words in (["upgrade"], ["administrator", password]):
        with ExitStack() as both:
            servers = [
                both.enter_context(subprocess.Popen([python, METADATA, *words], env=environment))
                for _ in range(2)
            ]
        assert [server.returncode for server in servers] == [0, 0], words
    done = subprocess.run([python, "-c", ASKING], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == '["postgresql", ["Admin"]]'
    keys = subprocess.run(
        ["redis-cli", "-p", str(redis_port), "--no-auth-warning", "-a", "secret", "keys", "data-*"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert keys.stdout == "data-asked\n"

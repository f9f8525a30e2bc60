"""The Kubernetes secrets that the pages create: no private key is beside passwords."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519

from docker.tests.conftest import DOCKER
from docker.tests.test_compose_services import SECRETS, clickhouse_accounts
from tailrace.config.resources import REPOSITORY

PAGES = "".join((REPOSITORY / page).read_text() for page in ("docs/CLUSTER.md", "helm/README.md"))
VALUES = yaml.safe_load((REPOSITORY / "helm/tailrace/values.yaml").read_text())
CREATED = re.compile(r"^kubectl create secret generic (\S+) --from-file (\S+)", re.MULTILINE)
PRIVATE = "PRIVATE KEY"


@pytest.fixture(scope="module")
def secrets(tmp_path_factory) -> dict[str, dict[str, str]]:
    """The contents of the secrets by name, as the commands of both pages create them."""
    here = tmp_path_factory.mktemp("install")
    (here / "docker").mkdir()
    for name in ("make-secrets", "compose.yaml", "compose.secure.yaml"):
        shutil.copy(DOCKER / name, here / "docker")
    (command,) = set(re.findall(r"^docker/make-secrets[ a-z-]*", PAGES, re.MULTILINE))
    for _ in range(2):  # a second run keeps the files
        subprocess.run(["bash", *command.split()], cwd=here, check=True)
    assert all(not path.stat().st_mode & 0o077 for path in (here / "docker/kubernetes").iterdir())
    made = {name: here / path for name, path in CREATED.findall(PAGES)}
    return {name: contents(path) for name, path in made.items() if path.exists()}


def contents(path: Path) -> dict[str, str]:
    return {each.name: each.read_text() for each in path.iterdir()}


def test_the_secret_of_the_passwords_has_no_private_key(secrets):
    passwords = secrets[VALUES["passwordsSecret"]]
    assert [name for name, text in passwords.items() if PRIVATE in text] == []
    assert len(set(passwords.values())) == len(passwords) > 0
    assert all(re.fullmatch(r"[0-9a-f]{32}", text) for text in passwords.values())


def test_it_has_each_password_that_a_pod_mounts(secrets):
    mounted = {name for names in SECRETS.values() for name in names if name.startswith("superset-")}
    assert mounted
    assert secrets[VALUES["passwordsSecret"]].keys() == mounted | clickhouse_accounts()


def test_the_key_of_evidence_is_a_secret_of_its_own(secrets):
    ((name, pem),) = secrets[VALUES["superset"]["evidence"]["keySecret"]].items()
    assert name == "evidence-ed25519.pem"
    assert isinstance(serialization.load_pem_private_key(pem.encode(), None), ed25519.Ed25519PrivateKey)


def test_an_unknown_option_creates_nothing(tmp_path):
    shutil.copy(DOCKER / "make-secrets", tmp_path)
    done = subprocess.run(["bash", tmp_path / "make-secrets", "--kube"], capture_output=True, text=True)
    assert done.returncode == 2 and "expected --kubernetes or nothing, found --kube" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["make-secrets"]

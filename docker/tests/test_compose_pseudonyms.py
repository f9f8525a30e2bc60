"""pseudonyms.yaml gives keys to the jobs, and nobody the private one, as the one-machine stack does."""

import stat

import pytest

from docker.tests.conftest import DOCKER
from docker.tests.test_compose import job_defaults
from docker.tests.test_compose_services import SECRETS
from docker.tests.test_tailrace_job import start
from tailrace.config.home import Home
from tailrace.config.resources import REPOSITORY
from tailrace.deployment import __main__ as deployment
from tailrace.erasure import revealing, vault

JOBS = {"flink": ("normalize", "NormalizeJobOptions"), "detect": ("detect", "DetectionJobOptions")}
KEYS = {vault.PSEUDONYM_KEY, vault.PUBLIC_KEY}


@pytest.fixture(scope="module")
def with_pseudonyms(compose):
    return compose("compose.yaml", "pseudonyms.yaml")


def known(service) -> set[str]:
    return {secret["source"] for secret in service.get("secrets", [])}


def test_the_jobs_have_the_keys_and_no_service_the_private_one(with_pseudonyms, project):
    more = {
        **dict.fromkeys((*JOBS, *(f"{job}-taskmanager" for job in JOBS)), KEYS),
        "command": {vault.PSEUDONYM_KEY},
        "reveal": {vault.PSEUDONYM_KEY, f"clickhouse-{revealing.ACCOUNT}"},
    }
    services = with_pseudonyms["services"]
    assert services.keys() - project["services"].keys() == {"reveal"}
    for name, service in services.items():
        before = SECRETS.get(name, set())
        if name != "clickhouse-setup":
            assert known(service) == before | more.get(name, set()), name
    assert with_pseudonyms["secrets"].keys() - project["secrets"].keys() == KEYS


@pytest.mark.parametrize("job", JOBS)
def test_a_job_starts_as_before_with_the_files_of_its_keys(with_pseudonyms, project, job, tmp_path):
    before, command = (each["services"][job]["command"] for each in (project, with_pseudonyms))
    assert command[: len(before)] == before
    options = command[len(before) :]
    files = {f"--{option}" for option in job_defaults(*JOBS[job]) if option.startswith("pseudonym.")}
    assert set(options[::2]) == files
    assert {each.removeprefix("/run/secrets/") for each in options[1::2]} == KEYS
    directory = tmp_path / "checkpoints"
    directory.mkdir()
    passed = start(directory, tmp_path, *options).stdout.splitlines()
    assert passed == [*start(directory, tmp_path).stdout.splitlines(), *options]


def test_the_service_of_people_is_as_closed_as_that_of_commands(with_pseudonyms):
    reveal, command = (with_pseudonyms["services"][name] for name in ("reveal", "command"))
    for key in ("image", "build", "cap_drop", "security_opt", "read_only", "restart", "deploy", "depends_on"):
        assert reveal[key] == command[key], key
    assert reveal["logging"] == {"driver": "none"}, "a name must not be in the logs of containers"
    assert reveal["profiles"] == ["reveal"]
    assert deployment._parser().parse_args(reveal["command"][1:]).words == ["reveal", "--help"]


def test_the_keys_are_made_once_as_files_that_services_can_read(tmp_path, monkeypatch):
    monkeypatch.setenv("TAILRACE_HOME", str(tmp_path))
    for _ in range(2):
        assert deployment.main(["pseudonym-keys"]) == 0
    secrets = Home(tmp_path).secrets
    assert {path.name for path in secrets.iterdir()} == KEYS | {vault.PRIVATE_KEY}
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in secrets.iterdir()}
    assert modes == {**dict.fromkeys(KEYS, 0o444), vault.PRIVATE_KEY: 0o600}
    assert vault.pseudonyms(secrets).key


def test_the_files_name_the_command_that_makes_the_keys():
    for file in (DOCKER / "pseudonyms.yaml", REPOSITORY / "docs" / "ERASURE.md"):
        assert "tailrace.deployment pseudonym-keys" in file.read_text(), file.name

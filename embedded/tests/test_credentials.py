"""The steps of `tailrace credentials`: the files that each writes, and the components that it restarts."""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tailrace.cli.commands import credentials
from tailrace.cli.context import Context, Show
from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.credentials.certificates import Certificates, issuer

JOBS = ["flink", "detect"]
COLLECTORS = ["fluentbit", "facts"]
DASHBOARDS = ["superset", "reports", "api"]


@dataclass(frozen=True)
class Recorder(Context):
    """Records the components that a step restarts."""

    restarted: list[str] = field(default_factory=list)

    def restart(self, names: Sequence[str], show: Show) -> None:
        self.restarted.extend(names)

    def run(self, action: str) -> list[str]:
        """Returns the components that the step restarts."""
        self.restarted.clear()
        credentials.run(Namespace(action=action), self)
        return list(self.restarted)


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    home = Home(tmp_path / "home")
    Certificates(home).make()
    return Recorder(Settings.from_environment({"TAILRACE_HOME": str(home.root)}), home)


def test_each_step_to_another_authority_restarts_the_components_concerned(recorder: Recorder):
    held = Certificates(recorder.home)
    (old,) = held.authorities()

    assert recorder.run("authority") == COLLECTORS, "they verify Kafka's certificate and have none"
    assert len(held.authorities()) == 2
    assert issuer(held.certificate("kafka"), [old]), "the old authority has signed all certificates"

    assert recorder.run("renew") == ["clickhouse", "kafka", *JOBS, *DASHBOARDS], "they have certificates"
    assert not issuer(held.certificate("kafka"), [old])
    assert old in held.authorities()

    assert recorder.run("retire") == ["clickhouse", "kafka", *JOBS, *COLLECTORS, *DASHBOARDS], (
        "they verify certificates"
    )
    assert old not in held.authorities()


def test_new_passwords_restart_kafka_and_its_clients(recorder: Recorder):
    before = recorder.home.secret("kafka-normalize")

    assert recorder.run("passwords") == ["kafka", *JOBS, *COLLECTORS]
    assert recorder.home.secret("kafka-normalize") != before

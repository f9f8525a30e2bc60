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


@dataclass(frozen=True)
class Recorder(Context):
    """Notes the parts that are to be restarted."""

    restarted: list[str] = field(default_factory=list)

    def restart(self, names: Sequence[str], show: Show) -> None:
        self.restarted.extend(names)

    def run(self, action: str) -> list[str]:
        """Returns the parts that the step restarts."""
        self.restarted.clear()
        credentials.run(Namespace(action=action), self)
        return list(self.restarted)


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    home = Home(tmp_path / "home")
    Certificates(home).make()
    return Recorder(Settings.from_environment({"TAILRACE_HOME": str(home.root)}), home)


def test_each_step_to_another_authority_restarts_the_parts_that_use_what_it_changes(recorder: Recorder):
    held = Certificates(recorder.home)
    (old,) = held.authorities()

    assert recorder.run("authority") == COLLECTORS, "they believe Kafka's certificate and have none"
    assert len(held.authorities()) == 2
    assert issuer(held.certificate("kafka"), [old]), "all certificates are still the old authority's"

    assert recorder.run("renew") == ["kafka", *JOBS, "superset", "reports"], "they have certificates"
    assert not issuer(held.certificate("kafka"), [old])
    assert old in held.authorities()

    assert recorder.run("retire") == ["kafka", *JOBS, *COLLECTORS], "they believe authorities"
    assert old not in held.authorities()


def test_new_passwords_restart_kafka_and_who_has_one(recorder: Recorder):
    before = recorder.home.secret("kafka-normalize")

    assert recorder.run("passwords") == ["kafka", *JOBS, *COLLECTORS]
    assert recorder.home.secret("kafka-normalize") != before

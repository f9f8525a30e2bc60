"""Pulls the logs of managed servers, as a component of the one-machine stack."""

from collections.abc import Sequence
from pathlib import Path

from tailrace.programs.pull import PullProgram
from tailrace.signing import local_key, publication
from tailrace.signing.registry import Registry
from tailrace.sources.sources_file import Listed
from tailrace_local import kafka as local_kafka
from tailrace_local.supervisor.component import PythonComponent

KAFKA_ACCOUNT = "pull"
NAME = "local"


class Pull(PullProgram, PythonComponent):
    """Runs collectors/pull with the local Kafka."""

    needs = ("kafka",)
    start_seconds = 120
    grace_seconds = 60

    def reads(self, listed: Listed) -> object:
        return set(listed.pulled)

    def prepare(self) -> None:
        super().prepare()
        if self.settings.sign_logs:
            local_key.of_pull(self.home, NAME).ensure()
            text = Registry(self.home).text()
            publication.publish(local_kafka.administration(self.settings, self.home), text)

    def command(self) -> Sequence[str | Path]:
        kafka = local_kafka.as_arguments(self.settings, self.home, KAFKA_ACCOUNT)
        return self.command_with(NAME, kafka)

    def address(self) -> str:
        return "-"

"""The census of the watched log files, as a component of the one-machine stack."""

from collections.abc import Mapping

from tailrace.programs.census import CensusProgram
from tailrace.signing import publication
from tailrace.signing.registry import Registry
from tailrace.sources.sources_file import Listed
from tailrace_local import kafka as local_kafka
from tailrace_local.supervisor.component import PythonComponent


class Census(CensusProgram, PythonComponent):
    """Runs collectors/census/census.py over the logs of sources.yaml."""

    start_seconds = 60

    def reads(self, listed: Listed) -> object:
        return {(log.cluster, log.instance, log.source, log.path) for log in listed.logs}

    def environment(self) -> Mapping[str, str]:
        return {"TAILRACE_HEALTH_PORT": str(self.settings.port_fluentbit)}

    def prepare(self) -> None:
        registered = Registry(self.home).text()
        super().prepare()
        self._publish_if_changed(registered)

    def _publish_if_changed(self, before: str) -> None:
        """Publishes a new key to a Kafka that runs; one that is started later publishes it itself."""
        text = Registry(self.home).text()
        if text != before and local_kafka.listens(self.settings.port_kafka):
            publication.publish(local_kafka.administration(self.settings, self.home), text)

    def address(self) -> str:
        return str(self.spool())

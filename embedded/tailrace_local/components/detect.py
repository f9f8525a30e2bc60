"""The detect job, which evaluates the pushed rules on events and writes alerts."""

from tailrace.rules import push as rule_push
from tailrace_local import kafka as local_kafka
from tailrace_local.components.flink import FlinkJob

NO_RULES = "it runs without rules, so nothing is detected; push some: tailrace rules push rules/"


class Detect(FlinkJob):
    """Pushes the repository's rules before the job starts if there was no push yet."""

    name = "detect"
    main_class = "io.tailrace.flink.detection.DetectionJob"
    account = "detect"
    jvm_options = (
        # An optimising compiler does not pay off for a few events a second, and takes memory.
        "-XX:TieredStopAtLevel=1",
        # A corrupt record may declare a text of two gigabytes, for which Avro would allocate memory.
        *(f"-Dorg.apache.avro.limits.{kind}.maxLength=20000000" for kind in ("string", "bytes")),
        "-Dorg.apache.avro.limits.collectionItems.maxLength=1000000",
    )

    def memory(self) -> int:
        return self.settings.memory_detect

    def port(self) -> int:
        return self.settings.port_detect

    def prepare(self) -> None:
        rule_push.push_first(local_kafka.connect(self.settings, self.home, "rules"), self.home.run)
        super().prepare()

    def problem(self) -> str:
        """An accumulator of the job's RuleBundleValidator shows whether rules are active."""
        accumulators = self.ask(f"/jobs/{self._newest_job()['jid']}/accumulators")["user-task-accumulators"]
        values = {each["name"]: each["value"] for each in accumulators}
        return NO_RULES if values.get("rules-active") == "0" else ""

    def job_configuration(self) -> dict[str, object]:
        """The keys are documented in io.tailrace.flink.detection.DetectionJobOptions."""
        return {
            "checkpoint.interval.ms": self.settings.detect_checkpoint_interval,
            "alerts.group.interval.ms": self.settings.alert_group_interval * 1000,
            "parallelism": self.settings.detect_parallelism,
        }

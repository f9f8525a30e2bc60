"""The detect job: from events to alerts, by the rules that were pushed."""

from tailrace.rules import push as rule_push
from tailrace_local import kafka as local_kafka
from tailrace_local.components.flink import FlinkJob

NO_RULES = "it runs without rules, so nothing is detected; push some: tailrace rules push rules/"


class Detect(FlinkJob):
    """Where nobody has pushed rules yet, it pushes the repository's own before the job starts."""

    name = "detect"
    main_class = "io.tailrace.flink.detection.DetectionJob"
    account = "detect"
    jvm_options = (
        # A few events a second do not repay an optimising compiler, which takes memory too.
        "-XX:TieredStopAtLevel=1",
        # A broken record in Kafka may say that a text of two gigabytes follows: Avro would make room for it.
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
        """Whether rules are in force is an accumulator of the job's RuleBundleValidator."""
        accumulators = self.ask(f"/jobs/{self._newest_job()['jid']}/accumulators")["user-task-accumulators"]
        values = {each["name"]: each["value"] for each in accumulators}
        return NO_RULES if values.get("rules-in-force") == "0" else ""

    def job_configuration(self) -> dict[str, object]:
        """The keys are documented in io.tailrace.flink.detection.DetectionJobOptions."""
        return {
            "checkpoint.interval.ms": self.settings.detect_checkpoint_interval,
            "alerts.group.ms": self.settings.alert_group * 1000,
            "parallelism": self.settings.detect_parallelism,
        }

"""A post-renderer of Helm: the chart's FlinkDeployments for an operator that knows Flink up to 1.18.

Their jobs are Counts, because those of Tailrace need Flink 2.2.
"""

import sys

import yaml

OLDER_NAMES = {
    "execution.checkpointing.dir": "state.checkpoints.dir",
    "execution.checkpointing.savepoint-dir": "state.savepoints.dir",
    "job.autoscaler.utilization.target": "job.autoscaler.target.utilization",
}


def older(resource: dict) -> dict:
    if resource["kind"] == "FlinkDeployment":
        spec = resource["spec"]
        spec["flinkVersion"] = "v1_18"
        spec["job"]["entryClass"] = "Counts"
        options = spec["flinkConfiguration"]
        spec["flinkConfiguration"] = {OLDER_NAMES.get(key, key): value for key, value in options.items()}
    return resource


if __name__ == "__main__":
    resources = [older(each) for each in yaml.safe_load_all(sys.stdin) if each]
    yaml.safe_dump_all(resources, sys.stdout)

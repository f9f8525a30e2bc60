"""CPU time of rules and detectors over the demo shop's two days: `make bench-rules`.

Runs stream-jobs/benchmarks' DetectionStages with the rule pack, and with 3,000 rules that are copies of the
pack's with other literals. Prints events per CPU-second and the CPU time of each stage, repetition by
repetition.
"""

import argparse
import subprocess
import tempfile
from pathlib import Path

from tailrace.demo.shop import story

REPOSITORY = Path(__file__).resolve().parents[2]
JAR = REPOSITORY / "stream-jobs" / "benchmarks" / "target" / "benchmarks.jar"
NOW = 1_772_500_000.0
"""The same two days in each run, seconds since 1970 UTC."""


def write_logs(directory: Path) -> None:
    """Writes the logs of the shop, one directory for each server."""
    for log in story.write(NOW).logs:
        path = directory / log.instance / f"{log.source}.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(log.content)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--rules", type=int, nargs="*", default=[0, 3000], help="numbers of rule files; 0: the pack"
    )
    parser.add_argument("--passes", type=int, default=8, help="repetitions of the two days")
    parser.add_argument(
        "--java", action="append", default=[], help="an option of the JVM, such as a flight recording"
    )
    parser.add_argument("--alerts", type=Path, help="directory for the alerts, to compare two versions")
    parser.add_argument("--logs", type=Path, help="directory of other logs, one directory for each server")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        logs = args.logs or Path(temporary) / "logs"
        if not args.logs:
            write_logs(logs)
        for rules in args.rules:
            alerts = (args.alerts or Path(temporary)) / f"alerts-{rules}.txt"
            java = ["java", "-Xmx1500m", "-XX:+UseSerialGC", *args.java, "-cp", str(JAR)]
            stages = ["io.tailrace.benchmarks.DetectionStages", str(REPOSITORY / "rules"), str(logs)]
            subprocess.run([*java, *stages, str(rules), str(args.passes), str(alerts)], check=True)


if __name__ == "__main__":
    main()

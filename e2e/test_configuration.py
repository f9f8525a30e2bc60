"""Wrong keys and passwords: a clear message, and no loss once they are corrected."""

import subprocess
from pathlib import Path

from e2e.limits import LIMIT_SECONDS
from e2e.stack import Stack, wait_until
from e2e.wait_for_idle import assert_exact, is_accounted_for
from tailrace.credentials.names import password_name
from tailrace_local.components.flink import Flink
from tailrace_local.supervisor import control


def test_the_writers_password_is_changed_while_lines_arrive(stack: Stack, watched):
    workload = watched(seed=1)
    workload.write(300)
    log = stack.home.log("flink")
    secret = stack.home.secret_file(password_name("writer"))
    before = log.stat().st_size
    secret.write_text("another password")
    try:
        workload.write(300)
        workload.finish()
        problem = b"does not accept user writer"
        wait_until(lambda: problem in log.read_bytes()[before:], "the job to say what is wrong")
        wait_until(lambda: stack.status("flink").is_healthy, "the job to be healthy")
        assert not is_accounted_for(stack, workload.manifests)
    finally:
        control.restart(stack.home, "clickhouse")  # reads the new password
    stack.await_healthy()
    assert_exact(stack, workload.manifests)


def test_the_job_refuses_an_unknown_key(stack: Stack):
    command = Flink(stack.settings, stack.home).command()
    wrong = [*map(str, command), "--gap.timeout.s", "20"]
    done = subprocess.run(wrong, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
    assert done.returncode == 1
    assert "unknown key gap.timeout.s; the nearest known one is gap.timeout.ms" in done.stderr
    assert "\tat " not in done.stderr


def test_the_job_maps_the_archive_of_its_classes(stack: Stack):
    (option,) = (word for word in Flink(stack.settings, stack.home).command() if "SharedArchive" in str(word))
    archive = option.partition("=")[2]
    assert archive in Path(f"/proc/{stack.status('flink').pid}/maps").read_text()

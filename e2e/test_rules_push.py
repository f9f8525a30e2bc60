"""`tailrace rules push` with a real Kafka: records, rejections, and messages."""

import json
import uuid
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from confluent_kafka import Consumer, TopicPartition

from e2e import commands
from e2e.limits import LIMIT_SECONDS
from e2e.stack import Stack, refusing_port
from tailrace.cli.exit_codes import Exit
from tailrace.kafka.client import KafkaClient
from tailrace.rules import push as rule_push
from tailrace_local.commands import up
from tailrace_local.context import LocalContext

RULE = """\
title: Admin from the test
logsource: {category: database}
detection:
  selection:
    user|expand: '%admins%'
  condition: selection
"""


@pytest.fixture(scope="module")
def stack(keeping: Stack) -> Stack:
    return keeping


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    made = tmp_path / "rules"
    (made / "access").mkdir(parents=True)
    (made / "access" / "admin.yml").write_text(RULE)
    (made / "placeholders.yaml").write_text("admins: [root, dba*]\n")
    (made / "README.md").write_text("no rule\n")
    return made


def tailrace(stack: Stack, *words: str | Path) -> CompletedProcess:
    return commands.run(stack.settings.environment(), *words)


def pushes(stack: Stack) -> list[dict]:
    """Returns all candidates of the topic, oldest first."""
    consumer = Consumer({"bootstrap.servers": stack.status("kafka").address, "group.id": str(uuid.uuid4())})
    try:
        partition = TopicPartition(rule_push.TOPIC, 0, 0)
        _, end = consumer.get_watermark_offsets(partition, timeout=LIMIT_SECONDS)
        consumer.assign([partition])
        records = []
        while len(records) < end:
            record = consumer.poll(LIMIT_SECONDS)
            assert record is not None, f"{rule_push.TOPIC} ends before offset {end}"
            assert record.error() is None, record.error()
            records.append(record)
        return [json.loads(each.value()) for each in records if each.key() == rule_push.CANDIDATE.encode()]
    finally:
        consumer.close()


def test_a_directory_is_one_record_with_its_placeholders(stack: Stack, directory: Path):
    before = len(pushes(stack))
    done = tailrace(stack, "rules", "push", directory)
    assert done.returncode == Exit.OK, done.stderr
    assert f"pushed 2 files of {directory} as " in done.stdout
    assert "the detect job is not running: it will apply the rules at its next start" in done.stdout
    found = pushes(stack)
    assert len(found) == before + 1
    assert found[-1]["files"] == {
        "access/admin.yml": RULE,
        "placeholders.yaml": "admins: [root, dba*]\n",
    }
    assert found[-1]["version"] == rule_push.VERSION
    assert found[-1]["push_id"] in done.stdout


def test_rules_that_do_not_compile_are_not_pushed(stack: Stack, directory: Path):
    (directory / "placeholders.yaml").unlink()
    before = pushes(stack)
    done = tailrace(stack, "rules", "push", directory)
    assert done.returncode == Exit.FAILED
    assert "nothing was pushed" in done.stderr
    assert "admin.yml:5:5: no values are known for the placeholder %admins%" in done.stderr
    assert pushes(stack) == before


def test_up_names_the_next_step_if_other_rules_run(stack: Stack, directory: Path, capsys):
    """As after an upgrade: a version never replaces rules by itself, because a site may maintain its own."""
    context = LocalContext(stack.settings, stack.home)
    assert tailrace(stack, "rules", "push", directory, "--no-check").returncode == Exit.OK
    assert rule_push.newest_files(context.kafka("rules")) == rule_push.files(directory)
    up.show_other_rules(context)
    assert f"tailrace rules push {rule_push.OWN}" in capsys.readouterr().out

    assert tailrace(stack, "rules", "push", rule_push.OWN, "--no-check").returncode == Exit.OK
    up.show_other_rules(context)
    assert capsys.readouterr().out == ""


def test_the_local_check_can_be_skipped(stack: Stack, directory: Path):
    (directory / "bad.yml").write_text("title: no rule\n")
    before = len(pushes(stack))
    done = tailrace(stack, "rules", "push", directory, "--no-check")
    assert done.returncode == Exit.OK, done.stderr
    assert len(pushes(stack)) == before + 1


@pytest.mark.parametrize("name", ["nowhere", "empty"])
def test_a_directory_without_rules_is_refused(stack: Stack, tmp_path: Path, name: str):
    (tmp_path / "empty").mkdir()
    done = tailrace(stack, "rules", "push", tmp_path / name)
    assert done.returncode == Exit.FAILED
    assert str(tmp_path / name) in done.stderr


def test_an_unresponsive_kafka_is_reported(stack: Stack, directory: Path, monkeypatch):
    monkeypatch.setattr(rule_push, "TIMEOUT_SECONDS", 1)
    with refusing_port() as nobodys, pytest.raises(rule_push.RulesError, match="did not accept the push"):
        rule_push.push(KafkaClient(f"127.0.0.1:{nobodys}"), rule_push.files(directory))

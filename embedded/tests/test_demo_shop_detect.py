"""`tailrace detect` over two days of a shop: every byte is an event, and only the stories raise alerts."""

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from shop_stories import BEFORE_THE_DROP, story_at

from tailrace.config.home import Home
from tailrace.config.resources import REPOSITORY, ROOT
from tailrace.demo.shop import files, people
from tailrace.demo.shop.manifest import QUERY_IDS
from tailrace.demo.shop.statements import ORDERS_OF_CUSTOMER, PRODUCT_OF_HISTORY
from tailrace.demo.shop.story import Story

TAILRACE = REPOSITORY / "bin" / "tailrace"
pytestmark = pytest.mark.timeout(900)
ONLY_IN_THE_JOB = {"Plan regression", "Gap in a log"}
"""Detectors that read plan changes and the ledger."""
POSTING = re.compile(r"(\S+): (\S+), (\d+) bytes = (\d+) events? \(\d+ bytes\)(?P<others>.*)")


@pytest.fixture(scope="module")
def written() -> Story:
    return story_at(BEFORE_THE_DROP)


@pytest.fixture(scope="module")
def detected(written: Story, tmp_path_factory) -> tuple[dict[Path, re.Match], list[list[str]]]:
    """Returns the postings by file, and the printed columns of each alert."""
    home = Home(tmp_path_factory.mktemp("shop"))
    files.write_logs(home, written)
    files.write_rest(home, written)
    paths = [str(files.watched(home, log).path) for log in written.logs]
    done = subprocess.run(
        [TAILRACE, "detect", "--rules", ROOT / "rules", "--tz", "UTC", *paths],
        capture_output=True,
        check=True,
        text=True,
        timeout=850,
    )
    matches = map(POSTING.fullmatch, done.stderr.splitlines())
    alerts = [line.split("\t") for line in done.stdout.splitlines()]
    return {Path(match[1]): match for match in matches if match}, alerts


def test_every_byte_is_an_event_or_framing(written, detected):
    postings, _ = detected
    read = {f"{path.parent.name}/{path.name}": match for path, match in postings.items()}
    for log in written.logs:
        match = read[f"{log.instance}/{files.LOG_FILES[log.source]}"]
        assert int(match[3]) == len(log.content)
        assert int(match[4]) == log.events, match.string
        assert "dead" not in match["others"]


def test_only_the_stories_raise_alerts(written, detected):
    _, alerts = detected
    expected = Counter(
        {(alert["level"], alert["rule"]): alert["alerts"] for alert in written.manifest["alerts"]}
    )
    found = Counter((level, title) for _, level, title, *_ in alerts)
    assert found == Counter({key: n for key, n in expected.items() if key[1] not in ONLY_IN_THE_JOB}), (
        "alerts of the demo's logs: a rule that fires on them without belonging to a story is too broad. "
        "If it detects a story, add it to ALERTS of embedded/tailrace/demo/shop/manifest.py"
    )


def test_query_ids_are_those_of_the_lexer():
    statements = {
        "dropped_index": ORDERS_OF_CUSTOMER.text,
        "loop": PRODUCT_OF_HISTORY.text,
        "export": people.EXPORT,
    }
    text = "\n".join(statement.replace("%s", "7") for statement in statements.values())
    done = subprocess.run(
        [TAILRACE, "fingerprint"], input=text, capture_output=True, check=True, text=True, timeout=850
    )
    ids = [line.split("\t")[0] for line in done.stdout.splitlines()]
    assert dict(zip(statements, ids, strict=True)) == QUERY_IDS

"""The two days of a shop: times at any hour, the same bytes in each run, a manifest that equals the bytes."""

import json
import math
import re
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import md5
from statistics import median
from urllib.parse import parse_qs, unquote, urlsplit

import jsonschema
import pytest
from shop_stories import AFTER_MIDNIGHT, BEFORE_THE_DROP, seconds_of, story_at

from tailrace.config.home import Home
from tailrace.config.resources import ROOT
from tailrace.config.settings import Settings
from tailrace.demo import container
from tailrace.demo.shop import attack, files, links, snapshots, story
from tailrace.demo.shop.servers import SERVERS
from tailrace.demo.shop.story import Story
from tailrace.demo.shop.times import DAY, HOUR, StoryTimes
from tailrace.kafka.client import KafkaClient
from tailrace.programs import census
from tailrace.programs.capture import has_snapshots
from tailrace.sources import sources_file


@pytest.fixture(params=[AFTER_MIDNIGHT, BEFORE_THE_DROP], ids=["00:01", "14:09"])
def written(request) -> Story:
    return story_at(request.param)


@pytest.mark.parametrize("clock", ["00:00:00", "00:01:00", "03:00:00", "14:09:00", "14:10:00", "23:59:59"])
@pytest.mark.parametrize("day", ["2026-03-01", "2026-03-29", "2026-10-25", "2028-03-01"])
def test_the_story_day_is_complete_at_any_hour(day, clock):
    now = seconds_of(f"{day}T{clock}")
    times = StoryTimes.ending(now)

    assert times.start <= times.midnight
    assert times.midnight + DAY <= now < times.midnight + 2 * DAY
    assert times.midnight % DAY == 0
    assert times.start % HOUR == 0
    assert 48 * HOUR <= now - times.start < 72 * HOUR
    assert datetime.fromtimestamp(times.at("14:10"), UTC).isoformat()[10:16] == "T14:10"


def test_the_same_time_gives_the_same_bytes():
    first, second = story_at(AFTER_MIDNIGHT), story.write(AFTER_MIDNIGHT)

    assert [log.content for log in first.logs] == [log.content for log in second.logs]
    assert first.spans == second.spans
    assert first.manifest == second.manifest
    assert list(snapshots.lines(first.times)) == list(snapshots.lines(second.times))


def test_the_story_day_has_the_same_entries_at_any_hour():
    early, late = story_at(AFTER_MIDNIGHT), story_at(BEFORE_THE_DROP)
    day = early.times.midnight, early.times.midnight + DAY
    assert late.times.midnight == day[0]
    for log in early.logs:
        first, last, events = log.between(*day)
        other = late.log(log.instance, log.source)
        from_offset, to_offset, others = other.between(*day)
        assert events == others
        if log.source != "audit":  # audit records are numbered from the beginning of the file
            assert log.content[first:last] == other.content[from_offset:to_offset]


def test_entries_are_in_order_and_none_is_in_the_future(written):
    for log in written.logs:
        times = [entry.at for entry in log.entries]
        assert times == sorted(times)
        assert written.times.start - 2 <= times[0]
        assert times[-1] < written.times.now


def test_the_size_is_that_of_a_demo(written):
    manifest = written.manifest
    assert 60_000 <= manifest["total_entries"] <= 120_000
    assert manifest["total_entries"] == sum(manifest["entries"].values())
    assert {log.cluster for log in written.logs} == {"shop", "billing"}
    assert len({log.instance for log in written.logs}) == 5
    assert manifest["spans"] == sum(len(spans) for spans in traces_of(written).values())


def test_the_dropped_index_is_in_the_slow_log_as_in_the_manifest(written):
    """Reads the bytes again, without the generator's classes."""
    facts = written.manifest["stories"]["dropped_index"]
    text = written.log("shop-db-1", "slowlog").content.decode()
    entries = re.findall(
        r"# Query_time: (\S+) .*\n(?:# [A-Z].*\n)*#\n# explain: id.*\n"
        r"# explain: 1\t\S+\torders\t(\S+)\t\S+\t(\S+)\t.*\n"
        r"#\nSET timestamp=(\d+);\nSELECT id, created_at, status, total FROM orders WHERE customer_id",
        text,
    )
    before = [
        float(seconds) for seconds, access, key, _ in entries if (access, key) == ("ref", "by_customer")
    ]
    after = [float(seconds) for seconds, access, key, _ in entries if (access, key) == ("ALL", "NULL")]
    changed = min(int(at) for _, access, _, at in entries if access == "ALL")

    assert len(before) + len(after) == len(entries)
    assert (len(before), len(after)) == (facts["executions_before"], facts["executions_after"])
    assert median(before) == pytest.approx(facts["median_seconds_before"], abs=1e-6)
    assert median(after) == pytest.approx(facts["median_seconds_after"], abs=1e-6)
    assert sum(after) == pytest.approx(facts["seconds_after"], abs=1e-3)
    assert 18 <= facts["factor"] <= 22
    assert min(len(before), len(after)) >= 100
    assert 0 <= changed - seconds_of(facts["at"]) < 10 * 60
    assert "ALTER TABLE orders DROP INDEX by_customer" in text


def test_the_statement_without_its_index_is_the_heaviest(written):
    seconds: Counter[str] = Counter()
    for log in written.logs:
        if log.source == "slowlog":
            text = log.content.decode()
            for duration, statement in re.findall(
                r"# Query_time: (\S+) .*\n(?:#.*\n|use .*\n)*SET timestamp=\d+;\n(.*);\n", text
            ):
                seconds[re.sub(r"/\*.*\*/|\d+", "", statement)] += float(duration)
    ((heaviest, _),) = seconds.most_common(1)
    assert heaviest.startswith("SELECT id, created_at, status, total FROM orders WHERE customer_id")


def test_the_loop_is_in_spans_and_slow_log_as_in_the_manifest(written):
    facts = written.manifest["stories"]["loop"]
    in_traces = Counter(
        trace
        for trace, spans in traces_of(written).items()
        for span in spans
        if any(each["value"].get("stringValue") == facts["statement"] for each in span["attributes"])
    )
    slow = written.log("shop-db-1", "slowlog").content
    statement = facts["statement"].partition("%s")[0].encode()

    assert set(in_traces.values()) == {facts["repeats"]}
    assert len(in_traces) == facts["traces"] > 10
    assert slow.count(statement) == facts["executions"]
    assert slow.find(statement) > slow.find(b"version='4.3.0'") > slow.rfind(b"version='4.2.0'")


def test_the_attack_is_in_both_logs(written):
    facts = written.manifest["stories"]["spray"]
    audit = written.log("shop-db-1", "audit").content.decode()
    refused = re.findall(rf",(\w+),{attack.ADDRESS},\d+,0,FAILED_CONNECT,,,1045\n", audit)

    assert len(refused) == facts["refused_logins"] == 43
    assert len(set(refused)) == facts["accounts"] == 40
    assert audit.count(f",reporting,{attack.ADDRESS},{facts['connection']},") == facts["statements"] + 2
    assert written.log("shop-db-1", "errorlog").content.count(b"Access denied") == facts["refused_logins"]


def test_deadlocks_replica_and_export_are_in_the_logs(written):
    stories = written.manifest["stories"]
    errors = written.log("shop-db-1", "errorlog").content
    audit = written.log("shop-db-1", "audit").content
    replica = written.log("shop-db-2", "errorlog").content

    assert errors.count(b"Transactions deadlock detected") == stories["deadlocks"]["count"]
    assert audit.count(b",1213\n") == stories["deadlocks"]["count"]
    assert replica.count(b"error reconnecting") == stories["replica"]["failed_reconnects"] == 42
    assert audit.count(stories["export"]["statement"].encode()) == 1
    assert f"Rows_sent: {stories['export']['rows']} " in written.log("shop-db-1", "slowlog").content.decode()


def test_the_gap_has_whole_lines_of_four_minutes(written):
    gap = written.manifest["stories"]["gap"]
    content = written.log(gap["instance"], gap["source"]).content
    lost = content[gap["from_offset"] : gap["to_offset"]]
    times = re.findall(rb'"timestamp": "\d{4}-\d\d-\d\d (\d\d:\d\d)', lost)

    assert content[gap["from_offset"] - 1 : gap["from_offset"]] == b"\n"
    assert lost.endswith(b"\n")
    assert lost.count(b"\n") == len(times) == gap["entries"] >= 5
    assert set(times) <= {b"11:20", b"11:21", b"11:22", b"11:23"}
    assert len(lost) == gap["bytes"]


def test_the_overviews_show_the_whole_day_of_the_stories(written):
    day = datetime.fromisoformat(written.manifest["story_day"])
    shown = f"{day:%Y-%m-%dT00:00:00} : {day + timedelta(days=1):%Y-%m-%dT00:00:00}"
    found = links.overviews(written.manifest)
    assert found.keys() == {"developers", "compliance", "security"}
    for path in found.values():
        assert path.startswith("/superset/dashboard/") and f"'{shown}'" in unquote(path)


def test_there_is_one_link_per_story_with_its_time_range(written):
    manifest = written.manifest
    made = links.links(manifest)
    assert [link.story for link in made] == ["dropped_index", "loop", "spray", "export", "gap"]
    for link in made:
        assert not re.search(r"[{}]", link.text + link.url)
        query = parse_qs(urlsplit(link.url).query)
        if "native_filters" in query:
            assert "instance" in unquote(link.url)
            continue
        start, end = seconds_of(query["from"][0]), seconds_of(query["to"][0])
        happened = manifest["stories"][link.story]
        assert written.times.start <= start < end <= written.times.now
        assert start <= seconds_of(happened.get("at") or happened["from"]) < end


def test_snapshots_have_the_form_of_capture(written):
    schema = json.loads((ROOT / "schemas" / "snapshot.schema.json").read_text())
    lines = [json.loads(line) for line in snapshots.lines(written.times)]
    for line in lines:
        jsonschema.validate(line, schema)
    assert [line["at"] for line in lines] == sorted(line["at"] for line in lines)
    for kind in ("server", "settings", "audit"):
        assert {line["instance"] for line in lines if line["kind"] == kind} == {it.instance for it in SERVERS}
    last = {(line["instance"], line["kind"]): line for line in lines}
    assert {line["at"] for line in last.values()} == {written.times.now}
    accounts = {fact["key"]: fact["since"] for fact in last["shop-db-1", "accounts"]["facts"]}
    created = [line["at"] for line in lines if line["kind"] == "accounts" and line["reason"] == "change"]
    assert [accounts[written.manifest["stories"]["new_account"]["account"]]] == created
    (account,) = [change["key"] for line in lines for change in line["changes"] if line["kind"] == "accounts"]
    assert account == written.manifest["stories"]["new_account"]["account"]


def test_files_end_at_the_gap_until_the_rest_is_written(tmp_path):
    written = story_at(AFTER_MIDNIGHT)
    home, settings = (
        Home(tmp_path),
        Settings(home=tmp_path, cache=tmp_path, sources=tmp_path / "sources.yaml"),
    )
    settings.sources.write_text("- {instance: mine, source: audit, path: /var/log/audit.log}\n")
    paths = {log: files.watched(home, log).path for log in written.logs}

    assert files.watch(settings, home, written)
    assert not files.watch(settings, home, written)
    assert len(sources_file.load(settings.sources)) == 1 + len(written.logs)
    files.write_logs(home, written)
    gap = written.manifest["stories"]["gap"]
    assert paths[files.log_with_gap(written)].stat().st_size == gap["from_offset"]
    files.write_rest(home, written)
    assert all(path.read_bytes() == log.content for log, path in paths.items())
    files.write_snapshots(home, written)
    assert has_snapshots(home, [])


def test_the_census_has_the_size_of_each_log_in_each_minute(tmp_path):
    written, home = story_at(BEFORE_THE_DROP), Home(tmp_path)
    files.write_logs(home, written)
    files.write_censuses(home, written)
    found = _censuses(home)

    schema = json.loads((ROOT / "schemas" / "census.schema.json").read_text())
    times = written.times
    minutes = [minute + 50 for minute in range(times.start - 60, times.now - 50, 60)]
    for log in written.logs:
        path = files.watched(home, log).path
        of_log = found[str(path)]
        jsonschema.validate(of_log[-1], schema)
        assert [record["at"] for record in of_log] == minutes
        for record in (*of_log[:3], *of_log[700:703], of_log[-1]):
            assert record["size"] == log.between(record["at"], math.inf)[0]
            head = log.content[: min(record["size"], 4096)]
            head = head[: head.rfind(b"\n") + 1]
            assert (record["head_length"], record["head_hash"]) == (len(head), md5(head).hexdigest())
            assert record["inode"] == path.stat().st_ino


def _censuses(home: Home) -> dict[str, list[dict]]:
    """Returns the records in the spool of the census, by path."""
    found: dict[str, list[dict]] = {}
    for file in census.spool_of(home).glob("census-*.jsonl"):
        for line in file.read_text().splitlines():
            record = json.loads(line)
            found.setdefault(record["path"], []).append(record)
    return found


def test_containers_get_the_shop_without_its_gap_and_with_a_link_to_each_other_story(tmp_path):
    written = replace(story_at(AFTER_MIDNIGHT), spans=())
    home = Home(tmp_path)
    settings = Settings(home=tmp_path, cache=tmp_path, sources=tmp_path / "sources.yaml")

    nowhere = KafkaClient("127.0.0.1:1")  # which gets no spans
    _, *shown = container.feed_story(nowhere, settings, home, written)

    assert [line.partition(":")[0] for line in shown] == [
        page.title for page in links.PAGES if page.story != files.GAP
    ]
    listed = {log.path for log in sources_file.load(settings.sources)}
    assert listed == {files.watched(home, log).path for log in written.logs}
    assert all(files.watched(home, log).path.read_bytes() == log.content for log in written.logs)
    assert has_snapshots(home, [])
    manifest = files.load_manifest(home)
    assert manifest["stories"].keys() == written.manifest["stories"].keys() - {files.GAP}
    assert files.GAP not in {alert["story"] for alert in manifest["alerts"]}


def test_a_saved_manifest_can_be_loaded(tmp_path):
    assert files.load_manifest(Home(tmp_path)) is None
    manifest = story_at(AFTER_MIDNIGHT).manifest
    files.save_manifest(Home(tmp_path), manifest)
    assert files.load_manifest(Home(tmp_path)) == manifest


def traces_of(written: Story) -> dict[str, list[dict]]:
    """Returns the spans by trace id."""
    traces: dict[str, list[dict]] = {}
    for message in written.spans:
        for of_resource in json.loads(message)["resourceSpans"]:
            for span in of_resource["scopeSpans"][0]["spans"]:
                traces.setdefault(span["traceId"], []).append(span)
    return traces

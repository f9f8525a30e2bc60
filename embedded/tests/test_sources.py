"""sources.yaml: the watched logs, and messages about mistakes."""

import re
from pathlib import Path

import pytest

from tailrace.sources import sources_file
from tailrace.sources.sources_file import PulledSource, Source, SourcesError


def written(directory: Path, text: str) -> Path:
    file = directory / "sources.yaml"
    file.write_text(text)
    return file


def test_fills_in_cluster_zone_and_format_and_resolves_paths(tmp_path):
    file = written(tmp_path, "- {instance: db-1, source: slowlog, path: logs/slow.log}")

    assert sources_file.load(file) == [
        Source("db-1", "slowlog", tmp_path / "logs/slow.log", "db-1", "UTC", "auto")
    ]


def test_added_entries_are_loaded_and_other_lines_stay(tmp_path):
    file = written(tmp_path, "# mine\n- {instance: db-1, source: slowlog, path: a.log}")
    added = [
        Source("db-2", "slowlog", tmp_path / "slow.log", "shop", "Europe/Berlin", "mysql-slow"),
        Source("db-2", "audit", tmp_path / "audit.log", "shop"),
    ]
    sources_file.add(file, added)

    assert sources_file.load(file)[1:] == added
    assert file.read_text().startswith(
        "# mine\n- {instance: db-1, source: slowlog, path: a.log}\n- instance: db-2"
    )


def test_entries_can_be_added_to_the_empty_list(tmp_path):
    sources_file.make_empty(tmp_path / "sources.yaml")
    sources_file.add(tmp_path / "sources.yaml", [Source("db-1", "audit", tmp_path / "a.log", "shop")])

    assert [source.instance for source in sources_file.load(tmp_path / "sources.yaml")] == ["db-1"]


def test_a_list_in_brackets_is_not_changed(tmp_path):
    file = written(tmp_path, "[{instance: db-1, source: slowlog, path: a.log}]\n")
    with pytest.raises(SourcesError, match="only to a list of lines that begin with `- `"):
        sources_file.add(file, [Source("db-2", "audit", tmp_path / "a.log", "shop")])

    assert len(sources_file.load(file)) == 1


def test_an_empty_list_explains_itself_and_is_never_overwritten(tmp_path):
    file = tmp_path / "new" / "sources.yaml"
    sources_file.make_empty(file)
    assert sources_file.load(file) == []
    assert "# `path` is one file" in file.read_text()

    written(tmp_path / "new", "- {instance: db-1, source: audit, path: a.log}")
    sources_file.make_empty(file)
    assert len(sources_file.load(file)) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{a: 1}", "expected a list of logs, found dict"),
        ("- slow.log", "log 1: expected keys and values, found 'slow.log'"),
        ("- {source: slowlog, path: x}", "log 1: `instance` is missing or not text"),
        ("- {instance: a, source: slowlog, path: x, cluster: 5}", "log 1: `cluster` must be text, not 5"),
        ("- {instance: a, source: slowlog, path: x, format: yes}", "log 1: `format` must be text, not True"),
        (
            "- {instance: a, source: slowlog, path: x, zone: UTC}",
            "log 1: unknown key 'zone'; known are cluster",
        ),
        (
            "- {instance: a, source: errors, path: x}",
            "source must be one of slowlog, audit, errorlog, general, not 'errors'",
        ),
        ("- {instance: a, source: audit, path: x, tz: CEST+2}", "tz must be an IANA zone"),
        ("- &a {instance: a, source: audit, path: x}\n- *a", "x of a is listed twice"),
        ("- {", "cannot be read"),
        ("- {instance: a, source: audit, path: x, cluster: [b]}", "log 1: `cluster` must be text, not"),
        ("- {instance: a, source: audit, path: loop}", "log 1: cannot be used: Symlink loop"),
        ("- {instance: \xff, source", "cannot be read"),
    ],
)
def test_a_mistake_is_reported(tmp_path, text, message):
    (tmp_path / "loop").symlink_to("loop")
    file = written(tmp_path, "")
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(SourcesError, match=message):
        sources_file.load(file)


def test_the_same_entries_in_another_order_mean_the_same(tmp_path):
    one, two = "- {instance: a, source: audit, path: x}\n", "- {instance: b, source: audit, path: x}\n"
    first = sources_file.read(written(tmp_path, one + two))

    assert first.means(sources_file.read(written(tmp_path, "# b first\n" + two + one)))
    assert not first.means(sources_file.read(written(tmp_path, one)))


def test_servers_and_logs_are_in_one_list(tmp_path):
    file = written(
        tmp_path,
        "- {instance: db-1, source: slowlog, path: a.log}\n"
        "- {instance: db-1, source: server, dsn: 'mysql://tailrace@db-1/', password_file: secret}\n",
    )
    sources_file.add(file, [sources_file.Server("db-2", "server", "mysql://t@db-2/", "shop", explain=True)])

    assert [log.source for log in sources_file.load(file)] == ["slowlog"]
    assert sources_file.load_servers(file) == [
        sources_file.Server("db-1", "server", "mysql://tailrace@db-1/", "db-1", tmp_path / "secret"),
        sources_file.Server("db-2", "server", "mysql://t@db-2/", "shop", explain=True),
    ]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("{instance: a, source: server}", "`dsn` is missing"),
        ("{instance: a, source: server, dsn: 'mysql://t:secret@a/'}", "no password in it"),
        ("{instance: a, source: server, dsn: 'mysql://t@a/', path: x}", "unknown key 'path'"),
        ("{instance: a, source: server, dsn: 'mysql://t@a/', explain: 1}", "explain must be true or false"),
        (
            "{instance: a, source: server, dsn: 'mysql://t@a/', digest_histograms: true}",
            "digest_histograms needs digests: true",
        ),
        ("{instance: a, source: server, dsn: 'mysql://t@a/', explain_dsn: x}", "explain_dsn must be like"),
    ],
)
def test_a_mistake_about_a_server_is_reported(tmp_path, entry, message):
    with pytest.raises(SourcesError, match=message) as error:
        sources_file.load_servers(written(tmp_path, f"- {entry}"))
    assert "secret" not in str(error.value)


def test_a_missing_list_is_reported(tmp_path):
    with pytest.raises(SourcesError, match=r"sources\.yaml: cannot be read"):
        sources_file.load(tmp_path / "sources.yaml")


def test_explain_has_a_separate_account_and_password(tmp_path):
    entry = "{instance: a, source: server, dsn: 'mysql://t@a/', password_file: t, explain: true, "
    (one,) = sources_file.load_servers(
        written(tmp_path, f"- {entry}explain_dsn: 'mysql://e@a/', explain_password_file: e}}")
    )
    assert (one.dsn, one.password_file) == ("mysql://t@a/", tmp_path / "t")
    assert (one.explained().dsn, one.explained().password_file) == ("mysql://e@a/", tmp_path / "e")
    (other,) = sources_file.load_servers(written(tmp_path, f"- {entry[:-2]}}}"))
    assert other.explained() == other


def test_a_pulled_log_has_the_defaults_of_its_service(tmp_path):
    file = written(tmp_path, "- {instance: db-1, source: audit, kind: rds, region: eu-central-1}")

    assert sources_file.read(file).pulled == (
        PulledSource("db-1", "audit", "rds", "eu-central-1", "db-1", "db-1"),
    )
    assert sources_file.load(file) == []


def test_the_option_file_of_a_log_table_is_relative_to_the_list(tmp_path):
    file = written(tmp_path, "- {instance: db-1, source: general, kind: table, defaults_file: db-1.cnf}")

    (log,) = sources_file.read(file).pulled
    assert log == PulledSource(
        "db-1", "general", "table", "", "db-1", "", defaults_file=str(tmp_path / "db-1.cnf")
    )


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("{instance: a, source: audit, kind: rds}", "`region` is missing"),
        (
            "{instance: a, source: audit, kind: sql, region: r}",
            "kind must be one of rds, cloudwatch, table, objects, event_hubs, otlp, not 'sql'",
        ),
        ("{instance: a, source: slowlog, kind: table}", "`defaults_file` is missing"),
        ("{instance: a, source: audit, kind: table, defaults_file: f}", "one of slowlog, general"),
        (
            "{instance: a, source: slowlog, kind: table, defaults_file: f, region: r}",
            "a key of kind rds, cloudwatch, objects, not of kind table",
        ),
        ("{instance: a, source: server, kind: rds, region: r}", "dsn"),
        ("{instance: a, source: audit, kind: rds, region: r, password: p}", "unknown key 'password'"),
    ],
)
def test_mistakes_in_a_pulled_log_name_the_key(tmp_path, entry, problem):
    with pytest.raises(SourcesError, match=re.escape(problem)):
        sources_file.read(written(tmp_path, f"- {entry}"))


def test_a_pulled_log_is_listed_once(tmp_path):
    entry = "- {instance: a, source: audit, kind: rds, region: r}\n"
    with pytest.raises(SourcesError, match="audit of a is listed twice"):
        sources_file.read(written(tmp_path, 2 * entry))


def test_a_log_of_cloudwatch_has_keys_of_its_own(tmp_path):
    entry = "- {instance: a, source: audit, kind: %s, region: r, %s: %s}"
    (log,) = sources_file.read(written(tmp_path, entry % ("cloudwatch", "log_group", "/g"))).pulled
    assert (log.log_group, log.db_instance, log.stream) == ("/g", "a", "")
    for kind, key, value in (("cloudwatch", "file", "x"), ("rds", "stream", "x"), ("rds", "since", "x")):
        with pytest.raises(SourcesError, match=f"`{key}` is a key of kind .*, not of kind {kind}"):
            sources_file.read(written(tmp_path, entry % (kind, key, value)))
    with pytest.raises(SourcesError, match="since must be a time"):
        sources_file.read(written(tmp_path, entry % ("cloudwatch", "since", "yesterday")))


def test_a_log_of_objects_has_a_url_and_azure_an_account(tmp_path):
    entry = "- {instance: a, source: audit, kind: objects, %s}"
    url = "url: az://insights-logs-mysqlauditlogs, account: shop"
    (log,) = sources_file.read(written(tmp_path, entry % url)).pulled
    assert (log.url, log.account, log.db_instance) == ("az://insights-logs-mysqlauditlogs", "shop", "a")
    for keys, problem in (
        ("db_instance: a", "`url` is missing"),
        ("url: /logs", "url must begin with s3://, gs:// or az:// and a name"),
        ("url: az://logs", "`account` is required with az://"),
        ("url: gs://logs, account: shop", "with no other store"),
    ):
        with pytest.raises(SourcesError, match=re.escape(problem)):
            sources_file.read(written(tmp_path, entry % keys))


def test_a_log_of_an_event_hub_has_a_url_and_no_secret(tmp_path):
    entry = "- {instance: a, source: audit, kind: event_hubs, %s}"
    url = "url: 'eventhubs://shop/mysql', connection_file: hub.connection"
    (log,) = sources_file.read(written(tmp_path, entry % url)).pulled
    assert (log.url, log.db_instance) == ("eventhubs://shop/mysql", "a")
    assert log.connection_file == str(tmp_path / "hub.connection")
    for keys, problem in (
        ("db_instance: a", "`url` is missing"),
        ("url: 'eventhubs://shop'", "url must be like eventhubs://NAMESPACE/HUB"),
        ("url: 'eventhubs://shop/mysql', account: x", "`account` is a key of kind objects"),
        ("url: 'eventhubs://shop/mysql', connection: x", "unknown key 'connection'"),
        ("url: 'eventhubs://shop/mysql', source: general", "source must be one of slowlog, audit"),
    ):
        with pytest.raises(SourcesError, match=re.escape(problem)):
            sources_file.read(written(tmp_path, entry % keys))


def test_a_log_in_otlp_has_a_topic_and_attributes(tmp_path):
    entry = "- {instance: a, source: errorlog, kind: otlp, %s}\n"
    keys = "url: 'kafka://k1:9092,k2:9092/logs', match: '%s'"
    where = "host.name=a, log.file.name=error.log*"
    (log,) = sources_file.read(written(tmp_path, entry % f"{keys % where}, connection_file: kafka")).pulled
    assert (log.match, log.connection_file) == (where, str(tmp_path / "kafka"))
    for values, problem in (
        ("match: host.name=a", "`url` is missing"),
        ("url: 'kafka://k1:9092/logs'", "`match` is missing"),
        ("url: 'kafka://k1:9092', match: a=b", "url must be like kafka://HOST:PORT,…/TOPIC"),
        ("url: 'kafka://me:secret@k1/logs', match: a=b", "url must be like"),
        (keys % "host.name", "match must be like host.name=db-1,log.file.name=slow.log"),
        (keys % "a=b,", "match must be like"),
        (keys % "a= ", "match must be like"),
        (keys % "a=b,a=c", "match must be like"),
        (keys % "a=b" + ", db_instance: x", "`db_instance` is a key of kind"),
    ):
        with pytest.raises(SourcesError, match=re.escape(problem)):
            sources_file.read(written(tmp_path, entry % values))


def test_records_of_one_log_are_not_listed_for_two_instances(tmp_path):
    entry = "- {instance: %s, source: audit, kind: otlp, url: 'kafka://k:1/logs', match: host.name=a}\n"
    with pytest.raises(SourcesError, match=r"match 'host\.name=a' of kafka://k:1/logs is listed twice"):
        sources_file.read(written(tmp_path, entry % "a" + entry % "b"))
    entry = "- {instance: %s, source: audit, kind: otlp, url: 'kafka://%s/logs', match: '%s'}\n"
    listed = entry % ("a", "k:1,k:2", "b=1, c=2") + entry % ("b", "k:2,k:1", "c=2,b=1")
    with pytest.raises(SourcesError, match="match 'b=1,c=2' of kafka://k:1,k:2/logs is listed twice"):
        sources_file.read(written(tmp_path, listed))


RDS = "- {instance: a, source: audit, kind: rds, region: r, db_instance: prod}\n"


@pytest.mark.parametrize(
    ("other", "problem"),
    [
        ("{instance: a, source: audit, path: /l}", "audit of a is listed with kind rds, and of a with path"),
        (
            "{instance: a, source: audit, kind: cloudwatch, region: x, db_instance: y}",
            "audit of a is listed with kind cloudwatch, and of a with kind rds",
        ),
        (
            "{instance: b, source: audit, kind: cloudwatch, region: r, db_instance: prod}",
            "audit of b is listed with kind cloudwatch, and of a with kind rds",
        ),
        (
            "{instance: b, source: audit, kind: objects, url: 's3://b/x', region: r, db_instance: prod}",
            "audit of b is listed with kind objects, and of a with kind rds",
        ),
    ],
)
def test_a_log_is_not_read_in_two_ways(tmp_path, other, problem):
    with pytest.raises(SourcesError, match=problem):
        sources_file.read(written(tmp_path, f"{RDS}- {other}\n"))


@pytest.mark.parametrize(
    "other",
    [
        "{instance: a, source: slowlog, kind: cloudwatch, region: r, db_instance: prod}",
        "{instance: a, source: audit, kind: rds, region: r, db_instance: prod, file: other}",
        "{instance: b, source: audit, kind: cloudwatch, region: r, db_instance: other}",
        "{instance: b, source: audit, path: /l}",
    ],
)
def test_other_logs_of_a_server_may_be_read_in_other_ways(tmp_path, other):
    assert sources_file.read(written(tmp_path, f"{RDS}- {other}\n")).pulled

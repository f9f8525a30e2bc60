"""The fingerprint service as a process, asked by the page of statements for every golden case."""

import concurrent.futures
import hashlib
import socket
import stat
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from golden_fingerprints import rules

from e2e.limits import LIMIT_SECONDS
from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.fingerprint import client
from tailrace.fingerprint.client import MAX_BYTES, FingerprintService, NoServiceError, RefusedError
from tailrace.programs.fingerprint import socket_of
from tailrace.snapshots import query_ids
from tailrace.snapshots.query_ids import UNKNOWN, QueryIds
from tailrace_local.components.fingerprint import Fingerprint
from tailrace_pages.statements import fingerprinting, searching

SECRET = "hunter2-of-the-test"

pytestmark = pytest.mark.timeout(900)  # a new machine builds the jar first


class Installing:
    """Progress of an installation, where a test shows it if it fails."""

    def report(self, doing: str) -> None:
        print(doing)

    def run(self, command, cwd=None, environment=None) -> None:
        subprocess.run(command, cwd=cwd, env=environment, check=True)


@pytest.fixture(scope="module")
def component(tmp_path_factory) -> Fingerprint:
    """The component in a home directory whose path is longer than the address of a socket."""
    root = tmp_path_factory.mktemp("home") / ("a deep directory " * 7)
    return Fingerprint(Settings.from_environment(), Home(root))


@pytest.fixture(scope="module")
def output(component, tmp_path_factory) -> Iterator[Path]:
    """The file with everything that the running service prints."""
    if not component.installed():
        component.install(Installing())
    path = tmp_path_factory.mktemp("output") / "log"
    with path.open("w") as file:
        process = subprocess.Popen(
            [str(word) for word in component.command()],
            cwd=component.home.data(component.name),
            stdout=file,
            stderr=subprocess.STDOUT,
        )
        try:
            limit = time.monotonic() + LIMIT_SECONDS
            while not component.health().ok:
                assert process.poll() is None and time.monotonic() < limit, path.read_text()
                time.sleep(0.02)
            yield path
        finally:
            process.terminate()
            process.wait()


@pytest.fixture
def patient(monkeypatch) -> None:
    """The client waits longer than on an idle machine."""
    monkeypatch.setattr(client, "SECONDS", LIMIT_SECONDS)


@pytest.fixture
def service(output, component, patient) -> FingerprintService:
    return FingerprintService(socket_of(component.home))


@pytest.fixture
def environment(output, component, patient) -> dict[str, str]:
    return {fingerprinting.SOCKET: str(socket_of(component.home))}


def id_of(fingerprint: str) -> int:
    """The right-most 64 bits of the MD5 hash."""
    return int.from_bytes(hashlib.md5(fingerprint.encode()).digest()[8:])


class Stored:
    """Stored fingerprints, as the queries of the page return them."""

    def __init__(self, *texts: str) -> None:
        self._rows = [{"id": id_of(text), "query": text} for text in texts]

    def __call__(self, query: str, **given) -> list[dict]:
        if query == "page_query_texts":
            return [row for row in self._rows if row["id"] in given["query_ids"]]
        assert query == "page_query_similar"
        wanted = {self._bare(text) for text in given["fingerprints"]}
        return [row for row in self._rows if self._bare(row["query"]) in wanted]

    @staticmethod
    def _bare(text: str) -> str:
        return text.lower().replace(" ", "").replace("`", "")


def test_every_golden_statement_finds_its_fingerprint(environment):
    stored = Stored(*{fingerprint for *_, fingerprint in rules()})
    for name, statement, fingerprint in rules():
        assert searching.meaning_of(statement).is_statement, name
        pasted = fingerprinting.pasted(statement, environment)
        groups = searching.found_pasted(stored, pasted)
        found = {row["query"]: row["id"] for row in groups["statement"]}
        assert found.pop(fingerprint) == pasted.fingerprint.query_id, name
        assert set(found.values()) <= {pasted.fingerprint.former_id}, name
    assert len(rules()) > 80


def test_a_link_to_a_statement_finds_it_again_and_has_no_literal(environment):
    for name, statement, _ in rules():
        pasted = fingerprinting.pasted(statement, environment)
        if pasted.link:
            again = fingerprinting.pasted(pasted.link, environment)
            assert again.fingerprint.query_id == pasted.fingerprint.query_id, name
    assert fingerprinting.pasted("SELECT a FROM t WHERE b = 'x'", environment).link == (
        "select a from t where b = ?"
    )
    # Its fingerprint is one word, which is searched as a text.
    assert not fingerprinting.pasted("SELECT /*!40001 SQL_NO_CACHE */ * FROM `t`", environment).link


@pytest.mark.parametrize(
    "statement",
    [
        "select a from `t` where b = :id and c in (:one, :two) limit :n",
        "SELECT `a` FROM t WHERE b = %s AND c IN (%s) LIMIT %(rows)s",
        "SELECT a FROM T WHERE b = $1 AND c IN ($2, $3) LIMIT $4;",
        "SELECT a  FROM t WHERE b=-1.5e3 AND c IN(NULL) LIMIT 7, 8",
        # DIGEST_TEXT of performance_schema
        "SELECT `a` FROM `t` WHERE `b` = ? AND `c` IN (...) LIMIT ?, ...",
    ],
)
def test_statements_with_other_placeholders_spaces_and_quotes_are_similar(environment, statement):
    text = "select a from t where b = ? and c in(?+) limit ?"
    pasted = fingerprinting.pasted(statement, environment)
    groups = searching.found_pasted(Stored(text, "select b from t"), pasted)
    assert [row["query"] for group in groups.values() for row in group] == [text]


@pytest.mark.parametrize(
    ("statement", "verb", "reads", "writes"),
    [
        ("SELECT b, a FROM Shop.Orders_2024 JOIN t", "SELECT", ("shop.orders_?", "t"), ()),
        ("INSERT INTO `a, b\tc\nd` SELECT 1 FROM t%2", "INSERT", ("t",), ("a, b\tc\nd",)),
        ("SELECT 1", "SELECT", (), ()),
        ("", "", (), ()),
    ],
)
def test_the_answer_names_the_verb_and_the_tables(service, environment, statement, verb, reads, writes):
    answer = service.fingerprint(statement)
    assert (answer.verb, answer.reads, answer.writes) == (verb, reads, writes)
    if answer.text.startswith("select"):  # the address of the page contains the fingerprint
        again = fingerprinting.pasted(answer.text, environment).fingerprint
        assert (again.verb, again.reads, again.writes) == (verb, reads, writes)


@pytest.mark.parametrize(
    "statement",
    [
        f"SELECT '{SECRET}\0' FROM \0t",
        f"SELECT '{SECRET}\udcff' FROM t",
        f"SELECT '{SECRET}\ufffd\U0001f600",
        f"SELECT '{SECRET}' " + "(" * (MAX_BYTES - 100),
        "INSERT INTO t VALUES " + ",".join([f"('{SECRET}')"] * 40_000),
        "\0",
        "",
    ],
    ids=["NUL", "no UTF-8", "no end", "1 MiB of parentheses", "1 MB of rows", "only NUL", "nothing"],
)
def test_any_text_is_answered_without_its_literals(service, statement):
    answer = service.fingerprint(statement)
    assert SECRET not in answer.text
    assert service.fingerprint("SELECT 1").query_id == id_of("select ?")


def test_a_longer_statement_is_refused(service, environment):
    statement = f"SELECT '{SECRET}'" + " " * MAX_BYTES
    with pytest.raises(RefusedError, match="more than 1,048,576"):
        service.fingerprint(statement)
    problem = fingerprinting.pasted(statement, environment).problem
    assert "1,048,576" in problem and SECRET not in problem


def test_requests_at_once_get_their_own_answers(service):
    texts = [f"select {'a' * number} from t" for number in range(1, 60)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert [each.text for each in pool.map(service.fingerprint, texts)] == texts


def test_only_its_user_can_open_the_socket(output, component):
    assert stat.S_IMODE(socket_of(component.home).stat().st_mode) == 0o600


def test_nothing_was_printed(output):
    """Also not after the statements of the tests before."""
    assert output.read_text() == ""


@pytest.fixture
def ids(output, component, patient) -> QueryIds:
    return QueryIds(socket_of(component.home))


def test_servers_may_have_one_digest_for_different_classes(ids, service):
    first, second = "SELECT id FROM orders", "SELECT id, total FROM orders"
    assert ids.of("db1", "D", first) == service.fingerprint(first).query_id
    assert ids.of("db2", "D", None) == UNKNOWN
    assert ids.of("db2", "D", second) == service.fingerprint(second).query_id
    assert ids.of("db1", "D", None) == service.fingerprint(first).query_id


def test_the_digests_of_one_server_displace_only_its_own(ids, monkeypatch):
    monkeypatch.setattr(query_ids, "MAX_KNOWN", 4)
    ids.of("db1", "D", "SELECT 1")
    for number in range(6):
        ids.of("db2", f"D{number}", "SELECT 2")
    assert ids.of("db1", "D", None) != UNKNOWN
    assert [ids.of("db2", f"D{number}", None) != UNKNOWN for number in range(6)] == [False] * 3 + [True] * 3


def test_many_servers_share_the_remembered_digests(ids, monkeypatch):
    monkeypatch.setattr(query_ids, "MAX_KNOWN", 4)
    for number in range(6):
        ids.of(f"db{number}", "D", "SELECT 1")
    assert sum(ids.of(f"db{number}", "D", None) != UNKNOWN for number in range(6)) == 4
    assert ids.of("db5", "D", None) != UNKNOWN


def test_a_service_that_is_not_there_or_silent_is_a_problem_and_no_error(tmp_path, monkeypatch):
    assert fingerprinting.pasted("SELECT 1", {}).problem == fingerprinting.NOT_HERE
    nowhere = {fingerprinting.SOCKET: str(tmp_path / "nowhere.sock")}
    assert fingerprinting.pasted("SELECT 1", nowhere).problem == fingerprinting.NOT_RUNNING
    monkeypatch.setattr(client, "SECONDS", 0.05)
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "silent.sock"))
        silent.listen()
        with pytest.raises(NoServiceError):
            FingerprintService(tmp_path / "silent.sock").fingerprint("SELECT 1")


def test_an_answer_that_ends_early_is_no_fingerprint(tmp_path):
    with socket.socket(socket.AF_UNIX) as ending:
        ending.bind(str(tmp_path / "ending.sock"))
        ending.listen()
        thread = threading.Thread(target=_read_and_end, args=(ending,))
        thread.start()
        with pytest.raises(NoServiceError, match="ended"):
            FingerprintService(tmp_path / "ending.sock").fingerprint("SELECT 1")
        thread.join()


def _read_and_end(listening: socket.socket) -> None:
    connection, _ = listening.accept()
    with connection:
        while connection.recv(1024):
            pass

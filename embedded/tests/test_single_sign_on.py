"""The parts of single sign-on without a server: sso.yaml, groups, redirects, and the limits of sessions."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from tailrace.config import single_sign_on
from tailrace.config.single_sign_on import Sessions
from tailrace.config.yaml_reader import ConfigurationError
from tailrace_sso import sessions
from tailrace_sso.addresses import safe_target
from tailrace_sso.person import LoginError, RevokedError, UnreachableError, checked_name, groups_of
from tailrace_sso.sessions import Ended, Guard, Record, Store

OIDC = {"issuer": "https://id.example/realms/main/", "client_id": "tailrace", "client_secret_file": "secret"}
LDAP = {
    "url": "ldaps://ldap.example",
    "bind_dn": "cn=tailrace",
    "bind_password_file": "secret",
    "people_base": "ou=people",
    "groups_base": "ou=groups",
}
CONTENT = {"address": "https://superset.example/", "oidc": OIDC, "roles": {"security": ["soc"]}}
LIMITS = Sessions(recheck=100, idle=10_000, lifetime=50_000)


def loaded(directory: Path, content: object):
    (directory / "secret").write_text("a secret\n")
    (directory / "sso.yaml").write_text(yaml.safe_dump(content))
    return single_sign_on.load(directory / "sso.yaml")


# --- sso.yaml ---------------------------------------------------------------------------------------------


def test_the_file_has_defaults(tmp_path):
    found = loaded(tmp_path, CONTENT)
    assert found.address == "https://superset.example" and found.ldap is None
    assert found.oidc.issuer == "https://id.example/realms/main" and found.oidc.secret() == "a secret"
    assert found.sessions == Sessions() and found.oidc.groups_claim == "groups"
    assert single_sign_on.load(tmp_path / "absent.yaml") is None


def test_a_person_has_the_roles_of_the_groups_only(tmp_path):
    roles = {"developer": ["dev", "dba"], "superset_admin": ["root"]}
    found = loaded(tmp_path, {**CONTENT, "ldap": LDAP, "roles": roles})
    assert found.roles_of(frozenset({"dev", "dba", "x"})) == ["Tailrace developer"]
    assert found.roles_of(frozenset({"dev", "root"})) == ["Admin", "Tailrace developer"]
    assert found.roles_of(frozenset({"DEV", ""})) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"oidc": None}, "needs the section `oidc` or `ldap`"),
        ({"address": "http://superset.example"}, "https://"),
        ({"address": "https://superset.example/?a=1"}, "without"),
        ({"oidc": {**OIDC, "issuer": "http://id.example"}}, "https://"),
        ({"oidc": {**OIDC, "client_secret": "in the file"}}, "unknown key 'client_secret'"),
        ({"oidc": {**OIDC, "client_secret_file": "absent"}}, "No such file"),
        ({"oidc": {**OIDC, "scopes": ["profile"]}}, "openid"),
        ({"ldap": {**LDAP, "url": "ldap://ldap.example"}}, "encrypted"),
        ({"ldap": {**LDAP, "url": "ldaps://ldap.example", "starttls": True}}, "starttls"),
        ({"ldap": {**LDAP, "people_filter": "objectClass=person"}}, "parentheses"),
        ({"roles": {}}, "no user could log in"),
        ({"roles": {"developers": ["dev"]}}, "nearest known one is 'developer'"),
        ({"roles": {"developer": ["a"], "security": ["a"]}}, "two roles"),
        ({"session": {"recheck": "2d", "idle": "1h"}}, "recheck <= idle"),
        ({"auto": True}, "unknown key 'auto'"),
    ],
)
def test_a_mistake_in_the_file_is_named(tmp_path, change, message):
    content = {key: value for key, value in {**CONTENT, **change}.items() if value is not None}
    with pytest.raises(ConfigurationError, match=message):
        loaded(tmp_path, content)


# --- claims, names and addresses --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claims", "groups"),
    [
        ({"groups": ["a", "b", 3, None]}, {"a", "b"}),
        ({"groups": "a"}, {"a"}),
        ({"groups": {"a": 1}}, set()),
        ({}, set()),
    ],
)
def test_groups_are_texts_of_the_claim(claims, groups):
    assert groups_of(claims, "groups") == groups


def test_a_claim_can_be_nested_or_have_a_dot_in_its_name():
    assert groups_of({"realm_access": {"roles": ["a"]}}, "realm_access.roles") == {"a"}
    assert groups_of({"https://x.example/groups": ["b"]}, "https://x.example/groups") == {"b"}
    assert groups_of({"realm_access": "x"}, "realm_access.roles") == set()


@pytest.mark.parametrize("name", ["", " ann", "a\nb", "a\x1b[31m", "x" * 65, None, 7, "a\u202eb"])
def test_a_name_that_no_log_could_show_is_refused(name):
    with pytest.raises(LoginError):
        checked_name(name)


def test_an_ordinary_name_is_kept():
    assert checked_name("Ann O'Neil (müller)") == "Ann O'Neil (müller)"


@pytest.mark.parametrize(
    ("given", "target"),
    [
        ("/tailrace/alerts/?range=7d", "/tailrace/alerts/?range=7d"),
        *((given, "/") for given in ("", "x", "//x", "/\\x", "https://x/", "/a\\b", "/a\r\nSet-Cookie: b")),
        *((given, "/") for given in ("/tailrace/login/", "/login/", "/logout/", "\t//x", "javascript:x")),
    ],
)
def test_a_login_leads_to_a_path_of_this_server(given, target):
    assert safe_target(given) == target


# --- sessions ---------------------------------------------------------------------------------------------


class Memory:
    """A cache in memory without a limit of time."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}

    def get(self, key: str) -> str | None:
        return self.values.get(key)

    def set(self, key: str, value: str, timeout: int) -> bool:
        self.values[key] = value
        return True

    def add(self, key: str, value: str, timeout: int) -> bool:
        return key not in self.values and self.set(key, value, timeout)

    def delete(self, key: str) -> bool:
        return self.values.pop(key, None) is not None


class Desk:
    """A guard with a clock that a test sets, and a server that answers, does not answer or refuses."""

    def __init__(self) -> None:
        self.now, self.asked, self.answer = 1_000_000.0, 0, None
        self.memory = Memory()
        self.store = Store(self.memory, "a secret key", LIMITS)
        self.meanwhile = lambda: None
        self.guard = Guard(self.store, LIMITS, self._checked, lambda: self.now, lambda _: self.meanwhile())

    def _checked(self, record: Record) -> Record:
        self.asked += 1
        if self.answer:
            raise self.answer
        return replace(record, refresh_token=f"token {self.asked}")


def test_a_session_of_a_server_is_checked_again_after_the_interval():
    desk = Desk()
    id_ = desk.guard.began(7, provider="oidc", refresh_token="token 0")
    for later, asked in ((99, 0), (1, 1), (50, 1), (50, 2)):
        desk.now += later
        assert desk.guard.verify(id_, 7).user_id == 7 and desk.asked == asked
    assert desk.store.get(id_).refresh_token == "token 2"


def test_a_local_session_is_not_checked():
    desk = Desk()
    id_ = desk.guard.began(7)
    desk.now += 9_999
    desk.guard.verify(id_, 7)
    assert desk.asked == 0


@pytest.mark.parametrize("error", [RevokedError("gone"), LoginError("no role")])
def test_a_revoked_person_loses_the_session(error):
    desk = Desk()
    id_ = desk.guard.began(7, provider="ldap")
    desk.now, desk.answer = desk.now + 100, error
    with pytest.raises(Ended):
        desk.guard.verify(id_, 7)
    assert desk.memory.values == {}


def test_a_server_that_does_not_answer_ends_the_session_after_three_intervals():
    desk = Desk()
    id_ = desk.guard.began(7, provider="ldap")
    desk.answer = UnreachableError("away")
    for later, asked in ((100, 1), (10, 1), (30, 2), (100, 3)):
        desk.now += later
        desk.guard.verify(id_, 7)
        assert desk.asked == asked, "one attempt in half a minute"
    desk.now += 60
    with pytest.raises(Ended):
        desk.guard.verify(id_, 7)


def test_an_outage_that_ends_in_time_keeps_the_session():
    desk = Desk()
    id_ = desk.guard.began(7, provider="ldap")
    desk.now, desk.answer = desk.now + 290, UnreachableError("away")
    desk.guard.verify(id_, 7)
    desk.now, desk.answer = desk.now + 40, None
    assert desk.guard.verify(id_, 7).checked == desk.now


def test_requests_at_the_same_time_use_a_refresh_token_once():
    desk = Desk()
    id_ = desk.guard.began(7, provider="oidc")
    desk.now += 100
    assert desk.store.claim(id_)
    before = desk.store.get(id_)
    desk.guard.verify(id_, 7)
    assert desk.asked == 0
    assert desk.store.get(id_) == before, "new tokens of the check are not overwritten"
    desk.store.release(id_)
    desk.guard.verify(id_, 7)
    assert desk.asked == 1


def test_requests_after_a_pause_wait_for_the_check_of_the_first_one():
    desk = Desk()
    id_ = desk.guard.began(7, provider="oidc")
    desk.now += 5_000
    assert desk.store.claim(id_)
    checked = replace(desk.store.get(id_), checked=desk.now)
    desk.meanwhile = lambda: desk.store.put(id_, checked)
    assert desk.guard.verify(id_, 7).checked == desk.now and desk.asked == 0

    desk.now += 5_000
    desk.meanwhile = lambda: desk.store.remove(id_)
    with pytest.raises(Ended):
        desk.guard.verify(id_, 7)


def test_a_short_interval_of_checks_keeps_the_session(monkeypatch):
    monkeypatch.setattr(sessions, "RETRY_SECONDS", 3_000)
    desk = Desk()
    id_ = desk.guard.began(7, provider="ldap")
    for asked in range(1, 20):
        desk.now += 400
        desk.guard.verify(id_, 7)
        assert desk.asked == asked


@pytest.mark.parametrize(("step", "steps", "total"), [(10_001, 1, 10_001), (9_000, 6, 54_000)])
def test_a_session_ends_when_it_is_idle_or_old(step, steps, total):
    desk = Desk()
    id_ = desk.guard.began(7)
    for _ in range(steps - 1):
        desk.now += step
        desk.guard.verify(id_, 7)
    desk.now += step
    with pytest.raises(Ended):
        desk.guard.verify(id_, 7)
    assert desk.now == 1_000_000 + total and desk.store.get(id_) is None


def test_a_session_of_another_user_or_without_a_record_has_ended():
    desk = Desk()
    id_ = desk.guard.began(7)
    for given, user in ((id_, 8), ("", 7), ("unknown", 7)):
        with pytest.raises(Ended):
            desk.guard.verify(given, user)


def test_a_record_is_encrypted_and_its_id_is_not_stored():
    desk = Desk()
    id_ = desk.guard.began(7, provider="oidc", refresh_token="very secret")
    assert id_ not in str(desk.memory.values) and "secret" not in str(desk.memory.values)
    assert Store(desk.memory, "another key", LIMITS).get(id_) is None
    desk.memory.values = dict.fromkeys(desk.memory.values, "forged")
    assert desk.store.get(id_) is None


def test_an_id_of_a_session_cannot_be_guessed():
    desk = Desk()
    assert len({desk.guard.began(7) for _ in range(100)}) == 100
    assert len(desk.guard.began(7)) >= 43  # 256 bits
    assert sessions.KEY == "tailrace_session"

"""Tests the login to a real Superset with a certified OpenID provider and OpenLDAP (docs/SSO.md)."""

import re
import secrets
from collections.abc import Iterator

import pytest
import requests
import slapd
from openid_provider import CLIENT, SECRET, OpenIdProvider, confirm, submit
from slapd import Slapd
from superset_login import LoginSuperset

from e2e.limits import LIMIT_SECONDS
from e2e.stack import wait_until
from tailrace.config.home import Home
from tailrace.credentials.certificates import Certificates
from tailrace.dashboards.connections import ADMINISTRATOR, PASSWORD
from tailrace.dashboards.superset_client import Client, SupersetError

pytestmark = pytest.mark.long

FIRST_PORT = 26040
PEOPLE = "(&(objectClass=person)(!(pwdAccountLockedTime=*)))"
ROLES = {"developer": ["dev"], "compliance": ["audit"], "security": ["soc"], "admin": ["ops"]}
TOO_MANY = 429
OIDC_LOGIN = "/tailrace/login/oidc"


@pytest.fixture(scope="module")
def superset(tmp_path_factory) -> LoginSuperset:
    return LoginSuperset(tmp_path_factory.mktemp("superset"), FIRST_PORT)


@pytest.fixture(scope="module")
def openid(superset, tmp_path_factory) -> Iterator[OpenIdProvider]:
    provider = OpenIdProvider(tmp_path_factory.mktemp("openid"), FIRST_PORT + 1, superset.address)
    with provider.running(superset.settings.cache):
        yield provider


@pytest.fixture(scope="module")
def certificates(tmp_path_factory) -> Certificates:
    made = Certificates(Home(tmp_path_factory.mktemp("authority")))
    made.directory.parent.mkdir(exist_ok=True)
    made.make()
    return made


@pytest.fixture(scope="module")
def directory(superset, certificates, tmp_path_factory) -> Iterator[Slapd]:
    root = slapd.installed(superset.settings.cache)
    server = Slapd(root, tmp_path_factory.mktemp("slapd"), FIRST_PORT + 2, certificates.file("superset"))
    with server.running():
        yield server


@pytest.fixture(scope="module", autouse=True)
def running(superset, openid, directory, certificates) -> Iterator[None]:
    """Superset with both servers. Groups are read again at each request."""
    secret = superset.settings.home / "secret"
    secret.write_text(SECRET)
    assert SECRET == slapd.PASSWORD
    superset.configure(
        oidc={"issuer": openid.issuer, "client_id": CLIENT, "client_secret_file": str(secret)},
        ldap={
            "url": directory.ldaps,
            "ca_file": str(certificates.trust),
            "bind_dn": slapd.BIND_DN,
            "bind_password_file": str(secret),
            "people_base": "ou=people,dc=example",
            "people_filter": PEOPLE,
            "groups_base": "ou=groups,dc=example",
        },
        roles=ROLES,
        session={"recheck": "1s"},
    )
    with superset.running():
        superset.make_roles()
        yield


@pytest.fixture
def browser() -> requests.Session:
    session = requests.Session()
    session.headers["Accept"] = "text/html"
    return session


def by_oidc(
    superset: LoginSuperset, browser: requests.Session, name: str, target: str = ""
) -> requests.Response:
    """Logs in with the OpenID provider. Returns the page after the login."""
    start = browser.get(superset.address + OIDC_LOGIN, params={"next": target}, timeout=LIMIT_SECONDS)
    return confirm(browser, start, name)


def by_ldap(
    superset: LoginSuperset, browser: requests.Session, name: str, password: str = slapd.PASSWORD
) -> requests.Response:
    """Logs in with the form; waits while Superset limits the rate of logins."""
    pages: list[requests.Response] = []

    def is_answered() -> bool:
        form = browser.get(f"{superset.address}/login/", timeout=LIMIT_SECONDS)
        pages.append(submit(browser, form, username=name, password=password))
        return pages[-1].status_code != TOO_MANY

    wait_until(is_answered, "a login within the limit")
    return pages[-1]


# --- OpenID Connect ---------------------------------------------------------------------------------------


def test_a_group_gives_its_role_only(superset, openid, browser):
    openid.has(ann=["soc", "other"])
    by_oidc(superset, browser, "ann")
    assert superset.is_logged_in(browser)
    assert superset.roles_of("ann") == {"Tailrace security"}


def test_two_groups_give_two_roles(superset, openid, browser):
    openid.has(two=["dev", "audit"])
    by_oidc(superset, browser, "two")
    assert superset.roles_of("two") == {"Tailrace developer", "Tailrace compliance"}


def test_the_login_leads_to_the_wanted_page_of_this_server_only(superset, openid, browser):
    openid.has(ann=["soc"])
    assert (
        by_oidc(superset, browser, "ann", "/tailrace/setup/?a=1").url
        == f"{superset.address}/tailrace/setup/?a=1"
    )
    for foreign in ("//evil.example/", "https://evil.example/", "/\\evil.example", "javascript:alert(1)"):
        other = requests.Session()
        assert by_oidc(superset, other, "ann", foreign).url.startswith(superset.address + "/")


def test_a_person_without_a_mapped_group_reads_which_group_is_missing(superset, openid, browser):
    openid.has(eve=["<b>unknown</b>"])
    page = by_oidc(superset, browser, "eve")
    assert page.status_code == 403 and "none of your groups has a role" in page.text
    assert "<code>soc</code>" in page.text and "&lt;b&gt;unknown&lt;/b&gt;" in page.text
    assert not superset.is_logged_in(browser)
    assert superset.roles_of("eve") is None, "no user is created"


def test_the_request_has_state_nonce_and_a_challenge(superset, browser):
    answer = browser.get(superset.address + OIDC_LOGIN, allow_redirects=False, timeout=LIMIT_SECONDS)
    address = answer.headers["Location"]
    for part in ("code_challenge=", "code_challenge_method=S256", "nonce=", "state=", "response_type=code"):
        assert part in address


def test_a_callback_of_another_browser_is_refused(superset, openid, browser):
    """An attacker sends the address of its own login to a victim (login CSRF)."""
    openid.has(ann=["soc"])
    start = browser.get(superset.address + OIDC_LOGIN, timeout=LIMIT_SECONDS)
    provider, page = start.url.split("/interaction/")[0], start
    while "/login/oidc/callback" not in page.headers.get("Location", ""):
        page = submit_once(browser, page, provider)
    victim = requests.Session()
    answer = victim.get(page.headers["Location"], timeout=LIMIT_SECONDS)
    assert answer.status_code == 403 and not superset.is_logged_in(victim)
    browser.get(page.headers["Location"], timeout=LIMIT_SECONDS)
    assert superset.is_logged_in(browser)
    repeated = browser.get(page.headers["Location"], timeout=LIMIT_SECONDS)
    assert repeated.status_code == 403, "a code is for one login"


def test_the_rate_of_logins_is_limited(superset, browser):
    page = browser.get(f"{superset.address}/tailrace/login/", timeout=LIMIT_SECONDS)
    tried = (submit(browser, page, username="nobody", password="x").status_code for _ in range(200))
    assert TOO_MANY in tried


def submit_once(browser: requests.Session, page: requests.Response, provider: str) -> requests.Response:
    """Sends the form of a page, or follows its redirect, one step."""
    if page.is_redirect:
        target = requests.compat.urljoin(provider, page.headers["Location"])
        return browser.get(target, allow_redirects=False, timeout=LIMIT_SECONDS)
    action = requests.compat.urljoin(page.url, re.search(r"action=\"([^\"]+)\"", page.text)[1])
    prompt = re.search(r"name=\"prompt\" value=\"([^\"]+)\"", page.text)[1]
    given = {"prompt": prompt, "login": "ann", "password": "any"}
    return browser.post(action, given, allow_redirects=False, timeout=LIMIT_SECONDS)


def test_a_name_of_a_local_user_opens_no_local_account(superset, openid, browser):
    openid.has(admin=["soc"])
    page = by_oidc(superset, browser, "admin")
    assert page.status_code == 403 and "another account" in page.text
    assert superset.roles_of("admin") == {"Admin"}


def test_a_group_that_was_revoked_ends_the_running_session(superset, openid, browser):
    openid.has(rita=["soc"])
    by_oidc(superset, browser, "rita")
    assert superset.is_logged_in(browser)
    openid.has(rita=["none"])
    wait_until(lambda: not superset.is_logged_in(browser), "the session to end")
    page = by_oidc(superset, browser, "rita")
    assert page.status_code == 403 and "none of your groups" in page.text


def test_a_changed_group_changes_the_roles_of_the_running_session(superset, openid, browser):
    openid.has(carl=["dev"])
    by_oidc(superset, browser, "carl")
    openid.has(carl=["audit"])

    def has_new_role() -> bool:
        assert superset.is_logged_in(browser)
        return superset.roles_of("carl") == {"Tailrace compliance"}

    wait_until(has_new_role, "the new role")


def test_a_person_who_was_removed_loses_the_running_session(superset, openid, browser):
    openid.has(dora=["soc"])
    by_oidc(superset, browser, "dora")
    openid.has(someone=[])
    wait_until(lambda: not superset.is_logged_in(browser), "the session to end")


def test_a_logout_ends_the_session_here_and_at_the_provider(superset, openid, browser):
    openid.has(ann=["soc"])
    by_oidc(superset, browser, "ann")
    kept = requests.Session()
    kept.cookies.update(browser.cookies)
    page = browser.get(f"{superset.address}/logout/", timeout=LIMIT_SECONDS)
    assert page.url.startswith(f"{openid.issuer}/session/end")
    after = submit(browser, page, logout="yes")
    assert after.url.startswith(f"{superset.address}/tailrace/login/")
    assert not superset.is_logged_in(browser)
    assert not superset.is_logged_in(kept), "a copy of the cookie is worth nothing"
    start = browser.get(superset.address + OIDC_LOGIN, timeout=LIMIT_SECONDS)
    assert start.url.startswith(f"{openid.issuer}/interaction/"), "the provider wants a new login"


def test_tokens_are_neither_in_the_cookie_nor_readable_in_files(superset, openid, browser):
    openid.has(ann=["soc"])
    by_oidc(superset, browser, "ann")
    assert len(browser.cookies["session"]) < 600
    records = sorted((superset.home.data("superset") / "sessions").iterdir())
    assert records and not any(b"refresh_token" in each.read_bytes() for each in records)
    assert all(each.stat().st_mode & 0o077 == 0 for each in records)


# --- LDAP -------------------------------------------------------------------------------------------------


def test_a_group_of_the_directory_gives_its_role(superset, directory, browser):
    directory.person("bob", ("dev",))
    by_ldap(superset, browser, "bob")
    assert superset.is_logged_in(browser) and superset.roles_of("bob") == {"Tailrace developer"}
    # The directory compares names without case: it is the same person.
    again = requests.Session()
    by_ldap(superset, again, "BOB ")
    assert superset.is_logged_in(again) and superset.roles_of("BOB ") is None
    directory.remove_group("dev")


@pytest.mark.parametrize("password", ["wrong", "", "*"])
def test_a_wrong_password_is_refused(superset, directory, browser, password):
    name = f"p{secrets.token_hex(4)}"
    directory.person(name, (f"group-{name}",))
    page = by_ldap(superset, browser, name, password)
    assert page.status_code == 403 and "Name or password is wrong" in page.text
    assert not superset.is_logged_in(browser)


@pytest.mark.parametrize(
    "name", ["*", "fred)(uid=*", "fred*", "*)(objectClass=*", "fr\\65d", "nobody", "fred\0"]
)
def test_a_name_is_only_compared(superset, directory, browser, name):
    if superset.roles_of("fred") is None and not hasattr(directory, "fred"):
        directory.person("fred", ("audit",))
        directory.fred = True
    page = by_ldap(superset, browser, name)
    assert page.status_code == 403 and not superset.is_logged_in(browser)


@pytest.mark.parametrize("name", ["o'neil (ops)", "müller*", 'a,b+c="d"', "back\\slash"])
def test_special_characters_of_a_name_are_part_of_it(superset, directory, browser, name):
    group = f"special-{secrets.token_hex(4)}"
    directory.person(name, (group,))
    page = by_ldap(superset, browser, name)
    assert page.status_code == 403 and group in page.text, "the groups of this person were found"
    directory.group("ops", name)
    by_ldap(superset, browser, name)
    assert superset.roles_of(name) == {"Tailrace admin"}
    directory.remove_group("ops")


def test_a_disabled_account_has_no_login_and_loses_its_session(superset, directory, browser):
    directory.person("gina", ("soc",))
    by_ldap(superset, browser, "gina")
    assert superset.is_logged_in(browser)
    directory.disable("gina")
    wait_until(lambda: not superset.is_logged_in(browser), "the session to end")
    assert by_ldap(superset, requests.Session(), "gina").status_code == 403
    directory.remove_group("soc")


def test_a_revoked_group_of_the_directory_ends_the_session(superset, directory, browser):
    directory.person("hugo", ("soc",))
    by_ldap(superset, browser, "hugo")
    directory.remove_group("soc")
    wait_until(lambda: not superset.is_logged_in(browser), "the session to end")
    page = browser.get(f"{superset.address}/tailrace/setup/", timeout=LIMIT_SECONDS)
    assert "/tailrace/login/" in page.url


def test_a_password_of_superset_is_no_way_around_the_directory(superset, directory, browser):
    directory.person("ivan", ("audit2",))
    directory.group("ops", "ivan")
    by_ldap(superset, browser, "ivan")
    users = superset.client.every("/api/v1/security/users/", ["id", "username"])
    (number,) = [each["id"] for each in users if each["username"] == "ivan"]
    superset.client.put(f"/api/v1/security/users/{number}", {"password": "of-superset"})
    directory.remove_group("ops")
    with pytest.raises(SupersetError):
        Client(superset.address, "ivan", "of-superset")


# --- local users and sessions -----------------------------------------------------------------------------


def local_login(superset: LoginSuperset, browser: requests.Session) -> None:
    page = browser.get(f"{superset.address}/login/?local=1", timeout=LIMIT_SECONDS)
    token = re.search(r"csrf_token\D+value=\"([^\"]+)\"|csrf_token&#34;: &#34;([^&]+)", page.text)
    password = superset.home.secret(PASSWORD)
    given = {"username": ADMINISTRATOR, "password": password, "csrf_token": token[1] or token[2]}
    browser.post(f"{superset.address}/login/", given, timeout=LIMIT_SECONDS)


def is_admin(superset: LoginSuperset, browser: requests.Session) -> bool:
    answer = browser.get(f"{superset.address}/api/v1/me/", timeout=LIMIT_SECONDS)
    return answer.status_code == 200


def test_the_local_administrator_can_log_in_beside_the_servers(superset, browser):
    local_login(superset, browser)
    assert is_admin(superset, browser)


def test_a_cookie_from_before_a_logout_is_worth_nothing(superset, browser):
    local_login(superset, browser)
    kept = requests.Session()
    kept.cookies.update(browser.cookies)
    assert is_admin(superset, kept)
    browser.get(f"{superset.address}/logout/", timeout=LIMIT_SECONDS)
    assert not is_admin(superset, kept)


def test_a_session_that_was_given_to_a_browser_is_not_the_one_after_the_login(superset, browser):
    """Session fixation: an attacker knows the cookie and the CSRF token from before the login."""
    page = browser.get(f"{superset.address}/login/?local=1", timeout=LIMIT_SECONDS)
    planted = browser.cookies["session"]
    assert page.ok
    local_login(superset, browser)
    assert browser.cookies["session"] != planted
    attacker = requests.Session()
    attacker.cookies.set("session", planted)
    assert not is_admin(superset, attacker)


def test_the_cookie_is_for_http_only_and_for_this_site(superset, browser):
    answer = browser.get(f"{superset.address}/tailrace/login/", timeout=LIMIT_SECONDS)
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Lax" in cookie
    policy = answer.headers["Content-Security-Policy"]
    assert "frame-ancestors 'self'" in policy and "default-src 'none'" in policy
    assert answer.headers["Cache-Control"] == "no-store"

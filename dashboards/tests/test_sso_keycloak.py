"""Tests the login to a real Superset with a real Keycloak: groups, revocation and logout (docs/SSO.md)."""

from collections.abc import Iterator

import pytest
import requests
from keycloak import CLIENT, PASSWORD, SECRET, Keycloak
from openid_provider import submit
from requests.adapters import HTTPAdapter
from superset_login import LoginSuperset

from e2e.limits import LIMIT_SECONDS
from e2e.stack import wait_until

pytestmark = pytest.mark.long

FIRST_PORT = 26070


@pytest.fixture(scope="module")
def superset(tmp_path_factory) -> LoginSuperset:
    return LoginSuperset(tmp_path_factory.mktemp("superset"), FIRST_PORT)


@pytest.fixture(scope="module")
def keycloak(superset, tmp_path_factory) -> Iterator[Keycloak]:
    server = Keycloak(superset.settings.cache, tmp_path_factory.mktemp("keycloak"), FIRST_PORT + 1)
    server.realm(superset.address, ann="soc", bob="soc", eve="unmapped")
    with server.running():
        yield server


@pytest.fixture(scope="module", autouse=True)
def running(superset, keycloak) -> Iterator[None]:
    secret = superset.settings.home / "secret"
    secret.write_text(SECRET)
    superset.configure(
        oidc={"issuer": keycloak.issuer, "client_id": CLIENT, "client_secret_file": str(secret)},
        roles={"security": ["soc"]},
        session={"recheck": "1s"},
    )
    with superset.running():
        superset.make_roles()
        yield


class LoopbackIsSecure(HTTPAdapter):
    """Accepts cookies for HTTPS of this machine also without it, as browsers do."""

    def send(self, *arguments, **named) -> requests.Response:
        answer = super().send(*arguments, **named)
        headers = answer.raw._original_response.msg
        cookies = headers.get_all("Set-Cookie", [])
        del headers["Set-Cookie"]
        for cookie in cookies:
            headers["Set-Cookie"] = cookie.replace(";Secure", "").replace("; Secure", "")
        return answer


def log_in(superset: LoginSuperset, name: str) -> tuple[requests.Session, requests.Response]:
    browser = requests.Session()
    browser.headers["Accept"] = "text/html"
    browser.mount("http://", LoopbackIsSecure())
    form = browser.get(f"{superset.address}/tailrace/login/oidc", timeout=LIMIT_SECONDS)
    return browser, submit(browser, form, username=name, password=PASSWORD)


def test_a_group_gives_its_role_until_it_is_revoked(superset, keycloak):
    browser, _ = log_in(superset, "ann")
    assert superset.is_logged_in(browser) and superset.roles_of("ann") == {"Tailrace security"}
    keycloak.leave_groups("ann")
    wait_until(lambda: not superset.is_logged_in(browser), "the session to end")
    _, page = log_in(superset, "ann")
    assert page.status_code == 403 and "The login contained no group" in page.text


def test_an_unmapped_group_is_named(superset):
    browser, page = log_in(superset, "eve")
    assert page.status_code == 403 and "<code>unmapped</code>" in page.text
    assert not superset.is_logged_in(browser) and superset.roles_of("eve") is None


def test_the_logout_ends_keycloaks_session_and_a_disabled_account_ours(superset, keycloak):
    browser, _ = log_in(superset, "bob")
    after = browser.get(f"{superset.address}/logout/", timeout=LIMIT_SECONDS)
    assert after.url.startswith(f"{superset.address}/tailrace/login/"), "without a question of Keycloak"
    form = browser.get(f"{superset.address}/tailrace/login/oidc", timeout=LIMIT_SECONDS)
    assert form.url.startswith(keycloak.issuer), "Keycloak wants the password again"
    submit(browser, form, username="bob", password=PASSWORD)
    assert superset.is_logged_in(browser)
    keycloak.disable("bob")
    wait_until(lambda: not superset.is_logged_in(browser), "the session to end")

"""Tests the login with a certified OpenID provider and with OpenLDAP, without Superset (docs/SSO.md).

test_sso.py, which is long, does it in Superset, with roles and sessions.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
import slapd
import yaml
from openid_provider import CLIENT, SECRET, OpenIdProvider, confirm
from slapd import Slapd
from superset_login import LoginSuperset

from e2e.limits import LIMIT_SECONDS
from tailrace.config.home import Home
from tailrace.credentials.certificates import Certificates

FIRST_PORT = 26050
ADDRESS = f"http://127.0.0.1:{FIRST_PORT}"
PEOPLE = "(&(objectClass=person)(!(pwdAccountLockedTime=*)))"


class Servers:
    """An OpenID provider, a directory, and the process with Tailrace's code that uses them."""

    def __init__(self, directory: Path, openid: OpenIdProvider, ldap: Slapd, trust: Path) -> None:
        self.openid, self.ldap, self.file = openid, ldap, directory / "sso.yaml"
        (directory / "secret").write_text(SECRET)
        secret = str(directory / "secret")
        self._oidc = {"issuer": openid.issuer, "client_id": CLIENT, "client_secret_file": secret}
        self._ldap = {
            "url": ldap.ldaps,
            "ca_file": str(trust),
            "bind_dn": slapd.BIND_DN,
            "bind_password_file": secret,
            "people_base": "ou=people,dc=example",
            "people_filter": PEOPLE,
            "groups_base": "ou=groups,dc=example",
        }
        self.configure()

    def configure(self, **ldap: object) -> None:
        content = {"address": ADDRESS, "oidc": self._oidc, "ldap": {**self._ldap, **ldap}}
        self.file.write_text(yaml.safe_dump({**content, "roles": {"security": ["soc"]}}))

    def log_in(self, name: str, password: str = slapd.PASSWORD) -> str | dict:
        """Returns the person of the directory, or the class of the error."""
        return _answer("/ldap", name=name, password=password)


def _answer(path: str, **arguments: str) -> str | dict:
    answer = requests.get(ADDRESS + path, params=arguments, timeout=LIMIT_SECONDS)
    return answer.json() if answer.ok else answer.text


@pytest.fixture(scope="module")
def servers(tmp_path_factory) -> Iterator[Servers]:
    directory = tmp_path_factory.mktemp("login")
    superset = LoginSuperset(directory / "home", FIRST_PORT)
    certificates = Certificates(superset.home)
    assert superset.home.secrets.is_dir()
    certificates.make()
    openid = OpenIdProvider(directory, FIRST_PORT + 1, ADDRESS)
    ldap = Slapd(
        slapd.installed(superset.settings.cache), directory, FIRST_PORT + 2, certificates.file("superset")
    )
    found = Servers(directory, openid, ldap, certificates.trust)
    with openid.running(superset.settings.cache), ldap.running(), superset.driver(found.file):
        yield found


@pytest.fixture
def browser() -> requests.Session:
    return requests.Session()


def by_oidc(browser: requests.Session, name: str) -> requests.Response:
    return confirm(browser, browser.get(f"{ADDRESS}/start", timeout=LIMIT_SECONDS), name)


def test_a_person_of_the_provider(servers, browser):
    servers.openid.has(ann=["soc", "other"])
    person = by_oidc(browser, "ann").json()
    assert person["name"] == "ann" and person["groups"] == ["other", "soc"]
    assert person["subject"] == f"{servers.openid.issuer} ann"
    servers.openid.has(ann=["none"])
    assert _answer("/renewed")["groups"] == ["none"]
    assert _answer("/renewed")["groups"] == ["none"], "each refresh token is used once"
    servers.openid.has(other=[])
    assert _answer("/renewed") == "RevokedError"


@pytest.mark.parametrize("query", ["", "?code=forged&state=forged", "?error=access_denied&state=x"])
def test_a_forged_answer_of_the_provider_is_refused(servers, browser, query):
    browser.get(f"{ADDRESS}/start", timeout=LIMIT_SECONDS)
    answer = browser.get(f"{ADDRESS}/tailrace/login/oidc/callback{query}", timeout=LIMIT_SECONDS)
    assert (answer.status_code, answer.text) == (403, "LoginError")


def test_the_request_to_the_provider_has_state_nonce_and_challenge(servers, browser):
    answer = browser.get(f"{ADDRESS}/start", allow_redirects=False, timeout=LIMIT_SECONDS)
    for part in ("state=", "nonce=", "code_challenge=", "code_challenge_method=S256", "response_type=code"):
        assert part in answer.headers["Location"]


def test_a_person_of_the_directory(servers):
    servers.ldap.person("bob", ("soc",))
    person = servers.log_in("BOB")
    assert person["name"] == "bob" and person["groups"] == ["cn=soc,ou=groups,dc=example", "soc"]
    servers.ldap.remove_group("soc")
    assert _answer("/known", subject=person["subject"])["groups"] == []
    servers.ldap.disable("bob")
    assert _answer("/known", subject=person["subject"]) == "RevokedError"
    assert servers.log_in("bob") == "LoginError"


def test_names_and_passwords_of_the_directory_are_only_compared(servers):
    servers.ldap.person("o'neil (a*b)\\")
    assert servers.log_in("o'neil (a*b)\\")["name"] == "o'neil (a*b)\\"
    for name in ("*", "o*", "o'neil (a*)\\", "*)(uid=*", "o'neil \\28a*b)\\", "x\0"):
        assert servers.log_in(name) == "LoginError", name
    for password in ("", "*", "wrong", "\0"):
        assert servers.log_in("o'neil (a*b)\\", password) == "LoginError", password


def test_the_certificate_of_the_directory_is_verified(servers, tmp_path):
    servers.ldap.person("carla")
    other = Home(tmp_path)
    stranger = Certificates(other)
    assert other.secrets.is_dir()
    stranger.make()
    port = servers.ldap.ldaps.rpartition(":")[2]
    for change, answered in (
        ({"url": servers.ldap.ldap, "starttls": True}, dict),
        ({"ca_file": str(stranger.trust)}, str),
        ({"ca_file": str(stranger.trust), "url": servers.ldap.ldap, "starttls": True}, str),
        ({"url": f"ldaps://127.0.0.2:{port}"}, str),
        ({"bind_dn": "cn=root,dc=absent"}, str),
    ):
        servers.configure(**change)
        found = servers.log_in("carla")
        assert isinstance(found, answered), change
        assert found == "UnreachableError" or answered is dict, change
    servers.configure()


def test_the_directory_refuses_an_unencrypted_password(servers):
    """The server of these tests does; Tailrace does not send one, see test_single_sign_on.py."""
    command = ["-H", servers.ldap.ldap, "-x", "-D", slapd.BIND_DN, "-w", SECRET, "-b", "dc=example"]
    with pytest.raises(OSError, match="onfidentiality"):
        servers.ldap.run("bin/ldapsearch", *command)

"""Attempts of the security review against Superset and the work pages (docs/SECURITY.md, OWASP ASVS)."""

import json
from urllib.parse import urlsplit

import pytest

from dashboards.tests.pages import ROLES, Visitor
from e2e.limits import LIMIT_SECONDS
from e2e.stack import wait_until
from tailrace.dashboards import connections

pytestmark = pytest.mark.browser

FORGED = "forged"
OWN_PAGES = ("/login/", "/tailrace/alerts/", "/superset/dashboard/security-overview/")
FOREIGN = (
    "//evil.example/",
    "https://evil.example/",
    "/\\evil.example/",
    "javascript:alert(1)",
    "http:evil.example",
)


def log_in(visitors: dict[str, Visitor], stack, target: str) -> tuple[Visitor, str]:
    """Logs in as security. Returns the visitor and where the login leads."""
    person = Visitor(visitors["security"].address)
    given = {"username": "security", "password": stack.home.secret(connections.password_of("security"))}
    token = person.token(f"/login/?next={target}")
    return person, person.post(f"/login/?next={target}", given, token).headers["Location"]


@pytest.mark.parametrize("target", FOREIGN)
def test_a_login_leads_to_this_server_only(visitors, stack, target):
    person, location = log_in(visitors, stack, target)
    assert urlsplit(location).netloc in ("", urlsplit(person.address).netloc), location
    assert not location.startswith(("//", "/\\", "javascript"))


def test_a_cookie_from_before_the_logout_is_worth_nothing(visitors, stack):
    person, _ = log_in(visitors, stack, "/")
    copied = Visitor(person.address)
    copied.session.cookies.update(person.session.cookies)
    assert copied.get("/tailrace/alerts/").status_code == 200
    person.get("/logout/")
    assert copied.get("/tailrace/alerts/").headers["Location"].startswith("/login/")


def test_a_cookie_from_before_the_login_is_worth_nothing(visitors, stack):
    person = Visitor(visitors["security"].address)
    token = person.token("/login/")
    planted = dict(person.session.cookies)
    given = {"username": "security", "password": stack.home.secret(connections.password_of("security"))}
    person.post("/login/", given, token)
    attacker = Visitor(person.address)
    attacker.session.cookies.update(planted)
    assert attacker.get("/tailrace/alerts/").headers["Location"].startswith("/login/")
    # The attacker, who planted the cookie, knows its token.
    assert person.post("/tailrace/alerts/actions/", {"action": "ack"}, token).status_code == 302


@pytest.mark.parametrize("path", OWN_PAGES)
def test_pages_are_in_no_frame_of_others_and_have_guarded_cookies(visitors, path):
    answer = (
        visitors["security"].get(path)
        if path != "/login/"
        else Visitor(visitors["security"].address).get(path)
    )
    assert answer.status_code == 200
    assert "frame-ancestors 'self'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    cookie = answer.headers.get("Set-Cookie", "HttpOnly; SameSite=Lax")
    assert "HttpOnly" in cookie and "SameSite=Lax" in cookie


def test_a_name_of_a_refused_login_forges_no_line_of_the_log(visitors, stack):
    person = Visitor(visitors["security"].address)
    token = person.token("/login/")
    given = {"username": f"x\r\n{FORGED} line \x1b[2J", "password": "x"}

    def is_logged() -> bool:  # the supervisor writes the log, and Superset limits the rate of logins
        person.post("/login/", given, token)
        return f"x\\r\\n{FORGED} line \\x1b[2J".encode() in stack.home.log("superset").read_bytes()

    wait_until(is_logged, "the attempt in the log")
    content = stack.home.log("superset").read_bytes()
    assert b"\x1b[2J" not in content
    assert not any(line.startswith(FORGED.encode()) for line in content.splitlines())


@pytest.mark.parametrize("header", ["User-Agent", "Referer"])
def test_a_header_with_control_characters_is_refused(visitors, header):
    """The log of requests contains both."""
    person = Visitor(visitors["security"].address)
    person.session.headers[header] = f"{FORGED}\x1b[2J"
    assert person.get("/login/").status_code == 400


@pytest.mark.parametrize("text", ["{{ 7 * 191 }}", "{% for x in y %}", "${7*191}", "#{7*191}"])
def test_a_text_of_a_visitor_is_no_template(visitors, text):
    answer = visitors["security"].get("/tailrace/entities/", q=text)
    assert answer.status_code == 200 and "1337" not in answer.text


@pytest.mark.parametrize("role", ROLES)
def test_readers_reach_nothing_that_imports_connects_or_runs_sql(visitors, role):
    """Archives (zip slip), addresses of databases and reports (SSRF), SQL with Jinja (templates)."""
    visitor = visitors[role]
    token = visitor.own_token()
    database = {"sqlalchemy_uri": "clickhousedb://169.254.169.254/x", "database_name": "x"}
    for path, content in (
        ("/api/v1/assets/import/", {}),
        ("/api/v1/dashboard/import/", {}),
        ("/api/v1/database/import/", {}),
        ("/api/v1/database/", database),
        ("/api/v1/database/test_connection/", database),
        ("/api/v1/database/validate_parameters/", {"engine": "clickhousedb"}),
        ("/api/v1/sqllab/execute/", {"database_id": 1, "sql": "{{ 7*7 }}"}),
        ("/api/v1/report/", {"type": "Report"}),
        ("/api/v1/css_template/", {"css": "x"}),
    ):
        answer = visitor.session.post(
            visitor.address + path,
            data=json.dumps(content),
            headers={"Content-Type": "application/json", "X-CSRFToken": token, "Referer": visitor.address},
            timeout=LIMIT_SECONDS,
            allow_redirects=False,
        )
        # 404: the page is switched off. 302: Superset leads to the login.
        assert answer.status_code in (302, 403, 404, 405), (path, answer.status_code, answer.text[:200])


@pytest.mark.parametrize("path", ["..%2f..%2fsecrets", "%2e%2e/x", "....//x", "a%00b", "C:%5cx"])
def test_an_id_of_an_export_is_no_path(visitors, path):
    answer = visitors["security"].get(f"/tailrace/evidence/exports/{path}/bundle")
    assert answer.status_code in (400, 404)

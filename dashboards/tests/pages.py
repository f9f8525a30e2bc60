"""A visitor of work pages without a browser, and the table of routes that the tests of access go through.

Add the routes of a new page to ROUTES and FORGED, and rows with hostile names to pages_data.py; the tests
test_pages_access.py and test_pages_browser.py then cover it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser

import requests

from e2e.limits import LIMIT_SECONDS

_TOKEN = re.compile(r'name="csrf_token"[^>]*value="([^"]+)"|id="csrf_token"[^>]*value="([^"]+)"')


class Visitor:
    """A session like that of a browser. It is logged in as `user`, or not logged in if there is none."""

    def __init__(self, address: str, user: str = "", password: str = "") -> None:
        self.address = address.rstrip("/")
        self.session = requests.Session()
        self.session.headers["Accept"] = "text/html"
        # The server closes a connection that was idle for 2 seconds, also while a request is on its way.
        self.session.headers["Connection"] = "close"
        self._own_token = ""
        if user:
            self._log_in(user, password)

    def _log_in(self, user: str, password: str) -> None:
        given = {"username": user, "password": password, "csrf_token": self.token("/login/")}
        answer = self.session.post(f"{self.address}/login/", given, timeout=LIMIT_SECONDS)
        assert answer.ok and "/login" not in answer.url, f"{user} is not logged in: {answer.url}"

    def get(self, path: str, follow: bool = False, **arguments: str) -> requests.Response:
        return self.session.get(
            self.address + path, params=arguments, timeout=LIMIT_SECONDS, allow_redirects=follow
        )

    def post(
        self, path: str, given: dict | list | None = None, token: str | None = None
    ) -> requests.Response:
        """Sends a form without a token unless one is given; does not follow the redirect."""
        fields = [*(given.items() if isinstance(given, dict) else given or [])]
        if token is not None:
            fields.append(("csrf_token", token))
        return self.session.post(
            self.address + path,
            fields,
            timeout=LIMIT_SECONDS,
            allow_redirects=False,
            headers={"Referer": self.address + path},
        )

    def token(self, path: str) -> str:
        """Returns the CSRF token of the forms of a page."""
        found = _TOKEN.search(self.get(path, follow=True).text)
        assert found, f"{path} has no form with a token"
        return found[1] or found[2]

    def submit(self, path: str, given: dict | list, page: str = "") -> requests.Response:
        """Sends a form with the token of a page, as a browser does; by default with that of the session."""
        return self.post(path, given, self.token(page) if page else self.own_token())

    def own_token(self) -> str:
        """Returns a token for forms of all pages, valid until the logout. The first call opens a page."""
        self._own_token = self._own_token or self.token("/dashboard/list/")
        return self._own_token

    def ask(self, route: "Route") -> requests.Response:
        """Opens the address or submits the form of a route."""
        return self.get(route.path) if route.method == "GET" else self.submit(route.path, dict(route.form))


@dataclass(frozen=True)
class Route:
    """An address and who may use it. `{alert}`, `{none}` … stand for values of pages_data.insert."""

    path: str
    roles: frozenset[str]
    """Roles that get it; others get status 403, and a visitor without login gets the login."""
    method: str = "GET"
    form: Mapping[str, str] = field(default_factory=dict)
    """Fields of a form that changes nothing, such as one without a selected row."""
    answered: int = 200
    """The status for these roles."""
    hidden_from: frozenset[str] = frozenset()
    """Roles that have the page, and do not see this object: for them it is not found."""
    is_page: bool = True
    """Whether it is HTML, which the browser opens and the test of hostile names reads."""

    @property
    def opens(self) -> bool:
        """Whether a browser can open it as a page."""
        return self.is_page and self.method == "GET"

    @property
    def reader(self) -> str:
        """A role that may open it: security if possible, so that few roles log in."""
        return "security" if "security" in self.roles else min(self.roles)

    def at(self, values: Mapping[str, str]) -> "Route":
        """Returns the route with values for the placeholders."""
        form = {name: value.format(**values) for name, value in self.form.items()}
        return replace(self, path=self.path.format(**values), form=form)


ROLES = ("developer", "compliance", "security", "unmasked")
READERS = frozenset({"compliance", "security"})
HANDLERS = frozenset({"security"})
ALL = READERS | {"developer"}
COMPLIANCE = frozenset({"compliance"})
OTHERS = ALL - HANDLERS
MISTAKE = {"action": "change", "q": "usr:x"}
NO_CASE = {"action": "place", "case": "", "selector": "user:x", "previewed": "user:x", "reason": ""}
NO_REASON = {"step": "request_release", "reason": ""}
TOO_OFTEN = {"action": "schedule", "every": "1s", "channels": "x"}

ROUTES = (
    Route("/tailrace/alerts/?range=90d", READERS),
    Route("/tailrace/alerts/{alert}/", READERS),
    Route("/tailrace/alerts/?range=90d&state=any&page=2&field=user&value=x", READERS),
    Route("/tailrace/alerts/?range=90d&format=csv", READERS, is_page=False),
    Route("/tailrace/alerts/{alert}/?format=csv&table=earlier", READERS, is_page=False),
    Route("/tailrace/alerts/newest/?since=1", READERS, is_page=False),
    Route("/tailrace/alerts/incidents/?range=90d", READERS),
    Route("/tailrace/alerts/incidents/?range=90d&assignee=x&format=csv", READERS, is_page=False),
    Route("/tailrace/alerts/incidents/{alert}/", READERS),
    Route("/tailrace/alerts/incidents/{alert}/?format=csv&table=history", READERS, is_page=False),
    Route("/tailrace/alerts/incidents/actions/", HANDLERS, "POST", {"action": "ack"}, 303),
    Route("/tailrace/alerts/risk/", READERS),
    Route("/tailrace/alerts/risk/?kind=user&name={name}", READERS),
    Route("/tailrace/alerts/risk/?format=csv", READERS, is_page=False),
    Route("/tailrace/alerts/actions/", HANDLERS, "POST", {"action": "ack"}, 303),
    Route(
        "/tailrace/alerts/{alert}/suppressions/", HANDLERS, "POST", {"scope": "rule", "span": "1 day"}, 303
    ),
    Route(
        "/tailrace/alerts/suppressions/00000000-0000-4000-8000-000000000000/end/", HANDLERS, "POST", {}, 303
    ),
    Route("/tailrace/alerts/filters/", READERS, "POST", {"action": "remove", "name": "none"}, 303),
    Route("/tailrace/search/?range=90d&q=user%3A*", ALL),
    Route("/tailrace/search/?q=last%3A90d+%7C+top+user", ALL),
    Route("/tailrace/search/?q=last%3A90d+%7C+timeline+1d", ALL),
    Route("/tailrace/search/?range=90d&q=user%3Ajavascript*&format=csv", ALL, is_page=False),
    Route("/tailrace/search/saved/", ALL),
    Route("/tailrace/search/saved/?format=csv", ALL, is_page=False),
    Route("/tailrace/search/saved/{search}/", HANDLERS, hidden_from=OTHERS),
    Route("/tailrace/search/saved/{search}/?format=csv", HANDLERS, hidden_from=OTHERS, is_page=False),
    Route("/tailrace/search/saved/", ALL, "POST", {"name": "", "q": "x"}, 303),
    Route("/tailrace/search/saved/{search}/", HANDLERS, "POST", MISTAKE, 303, OTHERS),
    Route("/tailrace/search/saved/{search}/schedule/", HANDLERS, "POST", TOO_OFTEN, 303, OTHERS),
    Route("/tailrace/rules/?range=90d", READERS),
    Route("/tailrace/rules/?range=90d&format=csv", READERS, is_page=False),
    Route("/tailrace/rules/{rule}/?range=90d", READERS),
    Route("/tailrace/rules/{rule}/?range=90d&format=csv&table=entities", READERS, is_page=False),
    Route("/tailrace/rules/{written}/suppressions/", HANDLERS, "POST", {"span": "1 day"}, 303),
    Route("/tailrace/rules/{written}/backtests/", HANDLERS, "POST", {"days": "no number"}, 400),
    Route("/tailrace/queries/?range=90d", ALL),
    Route("/tailrace/queries/?range=90d&format=csv", ALL, is_page=False),
    Route("/tailrace/queries/?q=select+1", ALL),
    Route("/tailrace/queries/", ALL, "POST", {"q": "select 1"}, 303),
    Route("/tailrace/queries/{query}/?range=90d", ALL),
    Route("/tailrace/queries/{query}/?range=90d&format=csv&table=plans", ALL, is_page=False),
    Route("/tailrace/queries/{query}/samples/?range=90d", ALL, answered=403, is_page=False),
    Route("/tailrace/entities/?range=90d", READERS),
    Route("/tailrace/entities/?range=90d&q=script", READERS),
    Route("/tailrace/entities/?range=90d&format=csv", READERS, is_page=False),
    Route("/tailrace/entities/user/{name}/?range=90d", READERS),
    Route("/tailrace/entities/user/{name}/?range=90d&format=csv&table=chart", READERS, is_page=False),
    Route("/tailrace/entities/user/{name}/?range=90d&format=csv&table=usual", READERS, is_page=False),
    Route("/tailrace/entities/user/{name}/?range=90d&compare=yes", READERS),
    Route("/tailrace/entities/user/{name}/?range=90d&compare=only", READERS, is_page=False),
    Route("/tailrace/entities/client/{name}/?range=90d", READERS),
    Route("/tailrace/entities/table/{name}/?range=90d", READERS),
    Route("/tailrace/entities/class/pci/?range=90d", READERS),
    Route("/tailrace/entities/class/pci/?range=90d&format=csv&table=patterns", READERS, is_page=False),
    Route("/tailrace/sessions/pages/{name}/4711/?range=90d", READERS),
    Route("/tailrace/evidence/?range=90d", READERS),
    Route("/tailrace/evidence/?range=90d&format=csv", READERS, is_page=False),
    Route("/tailrace/evidence/pci/refused_access/?range=90d", READERS),
    Route("/tailrace/evidence/pci/refused_access/?range=90d&format=csv", READERS, is_page=False),
    Route("/tailrace/evidence/pci/refused_access/count?range=90d", READERS, is_page=False),
    Route("/tailrace/evidence/exports/", READERS, "POST", {"framework": "pci", "from": "", "to": ""}, 303),
    Route(f"/tailrace/evidence/exports/{'f' * 32}/verification", READERS, "POST", {}, 404),
    Route("/tailrace/evidence/verifications/", READERS, "POST", {}, 303),
    Route("/tailrace/evidence/reviews/", READERS, "POST", {"from": "", "to": "", "finding": ""}, 303),
    Route("/tailrace/setup/", ALL),
    Route("/tailrace/setup/?format=csv", ALL, is_page=False),
    Route("/tailrace/retention/", COMPLIANCE),
    Route("/tailrace/retention/?framework=hipaa", COMPLIANCE),
    Route("/tailrace/retention/?format=csv", COMPLIANCE, is_page=False),
    Route("/tailrace/retention/?format=csv&table=holds", COMPLIANCE, is_page=False),
    Route("/tailrace/retention/?format=csv&table=deletions", COMPLIANCE, is_page=False),
    Route("/tailrace/retention/holds/new/", COMPLIANCE),
    Route("/tailrace/retention/holds/new/?selector=client%3A{name}", COMPLIANCE),
    Route("/tailrace/retention/holds/new/?selector=client%3Ax&format=csv", COMPLIANCE, is_page=False),
    Route("/tailrace/retention/holds/new/", COMPLIANCE, "POST", {"action": "preview"}),
    Route("/tailrace/retention/holds/new/", COMPLIANCE, "POST", NO_CASE),
    Route("/tailrace/retention/holds/{hold}/", COMPLIANCE),
    Route("/tailrace/retention/holds/{hold}/?format=csv&table=record", COMPLIANCE, is_page=False),
    Route("/tailrace/retention/holds/{hold}/?format=csv&table=selected", COMPLIANCE, is_page=False),
    Route("/tailrace/retention/holds/{hold}/release/", COMPLIANCE, "POST", NO_REASON, 303),
)
"""A browser opens each page of this list, and the first one of each `reader` in the dark theme, too."""

FILES = tuple(route for route in ROUTES if "format=csv" in route.path)
"""Each has rows of a page of ROUTES, by the same queries and permissions."""

FORGED = (
    Route("/tailrace/search/saved/{none}/", ALL),
    Route("/tailrace/search/saved/{none}/", ALL, "POST", {"action": "remove"}),
    Route("/tailrace/search/saved/{none}/schedule/", ALL, "POST", {"action": "pause"}),
    Route("/tailrace/search/saved/' OR 1=1/", ALL),
    Route("/tailrace/rules/forged/", READERS),
    Route("/tailrace/alerts/suppressions/{none}/end/", HANDLERS, "POST", {"reason": "x"}),
    Route("/tailrace/rules/forged/suppressions/", HANDLERS, "POST", {"span": "1 day", "reason": "x"}),
    Route("/tailrace/rules/forged/backtests/", HANDLERS, "POST", {"days": "30"}),
    Route("/tailrace/evidence/pci/forged/", READERS),
    Route("/tailrace/setup/?instance=forged", ALL),
    Route("/tailrace/retention/?framework=forged", COMPLIANCE),
    Route("/tailrace/retention/holds/{none}/", COMPLIANCE),
    Route("/tailrace/retention/holds/' OR 1=1/", COMPLIANCE),
    Route("/tailrace/retention/holds/{none}/release/", COMPLIANCE, "POST", NO_REASON),
    Route("/tailrace/retention/holds/{hold}0/release/", COMPLIANCE, "POST", NO_REASON),
    Route("/tailrace/entities/user/nobody%20of%20this%20name/", READERS),
    Route("/tailrace/sessions/-/nowhere/987654321/", READERS),
    Route("/tailrace/queries/00000000000000AB/", ALL),
    Route("/tailrace/queries/00000000000000AB/?format=csv&table=plans", ALL),
    Route("/tailrace/alerts/{none}/", READERS),
    Route("/tailrace/alerts/incidents/{none}/", READERS),
    Route("/tailrace/alerts/incidents/actions/", HANDLERS, "POST", {"action": "ack", "ids": "{none},{none}"}),
    Route("/tailrace/alerts/{alert}0/", READERS),
    Route("/tailrace/alerts/..%2f{alert}/", READERS),
    Route("/tailrace/alerts/actions/", HANDLERS, "POST", {"action": "ack", "ids": "{none}"}),
    Route("/tailrace/alerts/actions/", HANDLERS, "POST", {"action": "ack", "ids": "' OR 1=1"}),
    Route(
        "/tailrace/alerts/{none}/suppressions/",
        HANDLERS,
        "POST",
        {"scope": "rule", "span": "1 day", "reason": "x"},
    ),
)
"""Addresses and forms with ids that do not exist; each answers 404 to a role that may use them."""


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.words.append(data)


def parsed(html: str) -> _Text:
    """Returns the tags with their attributes, and the texts, of a page as a browser reads them."""
    found = _Text()
    found.feed(html)
    return found

"""A visitor of work pages without a browser, and the table of routes that the tests of access go through.

Add the routes of a new page to ROUTES; test_pages_access.py and test_pages_browser.py do the rest.
"""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

import requests

TIMEOUT_SECONDS = 120
_TOKEN = re.compile(r'name="csrf_token"[^>]*value="([^"]+)"|id="csrf_token"[^>]*value="([^"]+)"')


class Visitor:
    """A person who is logged in, with the session of a browser; without `user`, nobody is logged in."""

    def __init__(self, address: str, user: str = "", password: str = "") -> None:
        self.address = address.rstrip("/")
        self.session = requests.Session()
        self.session.headers["Accept"] = "text/html"
        # The server closes a connection that was idle for 2 seconds, also while a request is on its way.
        self.session.headers["Connection"] = "close"
        if user:
            self._log_in(user, password)

    def _log_in(self, user: str, password: str) -> None:
        given = {"username": user, "password": password, "csrf_token": self.token("/login/")}
        answer = self.session.post(f"{self.address}/login/", given, timeout=TIMEOUT_SECONDS)
        assert answer.ok and "/login" not in answer.url, f"{user} is not logged in: {answer.url}"

    def get(self, path: str, follow: bool = False, **arguments: str) -> requests.Response:
        return self.session.get(
            self.address + path, params=arguments, timeout=TIMEOUT_SECONDS, allow_redirects=follow
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
            timeout=TIMEOUT_SECONDS,
            allow_redirects=False,
            headers={"Referer": self.address + path},
        )

    def token(self, path: str) -> str:
        """Returns the CSRF token of the forms of a page."""
        found = _TOKEN.search(self.get(path, follow=True).text)
        assert found, f"{path} has no form with a token"
        return found[1] or found[2]

    def submit(self, path: str, given: dict | list, page: str) -> requests.Response:
        """Sends a form with the token of `page`, as a browser does."""
        return self.post(path, given, self.token(page))


@dataclass(frozen=True)
class Route:
    """An address and who may use it. `{alert}`, `{query}` … stand for values of the tests' data."""

    path: str
    roles: frozenset[str]
    """Roles that get it; others get status 403, and a visitor without login gets the login."""
    method: str = "GET"
    form: dict[str, str] = field(default_factory=dict)
    """Fields of a form that changes nothing if it is sent, such as one without a selected row."""
    answered: int = 200
    """The status for these roles."""
    page: str = ""
    """For a form: the page that contains it."""
    forged: str = ""
    """An address of the same kind with an id that does not exist; answers 404."""


READERS = frozenset({"compliance", "security"})

ROUTES = (
    Route("/tailrace/alerts/", READERS),
    Route("/tailrace/alerts/?format=csv", READERS),
    Route("/tailrace/evidence/", READERS),
    Route("/tailrace/evidence/pci/refused_access/", READERS, forged="/tailrace/evidence/pci/forged/"),
    Route("/tailrace/evidence/pci/refused_access/?format=csv", READERS),
    Route("/tailrace/evidence/pci/refused_access/count", READERS),
    *(
        Route(f"/tailrace/evidence/{name}/", READERS, "POST", form, answered=303, page="/tailrace/evidence/")
        for name, form in (
            ("exports", {"framework": "pci", "from": "", "to": ""}),
            ("verifications", {}),
            ("reviews", {"from": "", "to": "", "finding": ""}),
        )
    ),
    Route("/tailrace/setup/", READERS | {"developer"}, forged="/tailrace/setup/?instance=forged"),
    Route("/tailrace/setup/?format=csv", READERS | {"developer"}),
)
ROLES = ("developer", "compliance", "security", "unmasked")


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

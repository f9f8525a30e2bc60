"""A real, certified OpenID provider on loopback: the package `oidc-provider`, whose people a test changes."""

import contextlib
import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from html import unescape
from pathlib import Path
from urllib.parse import urljoin

import requests

from e2e.limits import LIMIT_SECONDS
from e2e.stack import wait_until
from tailrace.config import content_hash
from tailrace_local.supervisor import cache

SOURCE = Path(__file__).parent / "openid"
CLIENT, SECRET = "tailrace", "only-for-tests"
_FORM = re.compile(r"<form[^>]*action=\"([^\"]+)\"")
_HIDDEN = re.compile(r"<input type=\"hidden\" name=\"([^\"]+)\" value=\"([^\"]*)\"")


class OpenIdProvider:
    """The provider's settings and people. `running` starts it."""

    def __init__(self, directory: Path, port: int, superset: str) -> None:
        self.issuer = f"http://127.0.0.1:{port}"
        self._directory = directory
        self._people = directory / "people.json"
        client = {
            "client_id": CLIENT,
            "client_secret": SECRET,
            "grant_types": ["authorization_code", "refresh_token"],
            "redirect_uris": [f"{superset}/tailrace/login/oidc/callback"],
            "post_logout_redirect_uris": [f"{superset}/tailrace/login/"],
        }
        settings = {"port": port, "issuer": self.issuer, "client": client, "people": str(self._people)}
        (directory / "provider.json").write_text(json.dumps(settings))
        self.has(ann=["soc"])

    def has(self, **people: list[str]) -> None:
        """Replaces all people by these, with their groups."""
        content: Mapping[str, object] = {name: {"groups": groups} for name, groups in people.items()}
        self._people.write_text(json.dumps(content))

    @contextlib.contextmanager
    def running(self, cache_directory: Path) -> Iterator[None]:
        program = [installed(cache_directory) / "provider.mjs", self._directory / "provider.json"]
        with open(self._directory / "provider.log", "w") as log:
            process = subprocess.Popen(["node", *program], stdout=log, stderr=subprocess.STDOUT)
        try:
            configuration = f"{self.issuer}/.well-known/openid-configuration"
            wait_until(lambda: requests.get(configuration, timeout=LIMIT_SECONDS).ok, "the provider")
            yield
        finally:
            process.kill()
            process.wait()


def installed(cache_directory: Path) -> Path:
    """Returns the directory of the program and its packages."""
    files = sorted(SOURCE.iterdir())
    entry = cache_directory / "openid-provider" / content_hash.fingerprint(*files)
    if not entry.exists():
        with cache.build(entry) as draft:
            for file in files:
                shutil.copy(file, draft)
            command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
            subprocess.run(command, cwd=draft, check=True, capture_output=True, timeout=600)
    return entry


def submit(session: requests.Session, page: requests.Response, **fields: str) -> requests.Response:
    """Sends the first form of a page with these fields, and follows the redirects."""
    action = _FORM.search(page.text)
    assert action, f"{page.url} has no form: {page.text[:500]}"
    hidden = {name: unescape(value) for name, value in _HIDDEN.findall(page.text)}
    target = urljoin(page.url, unescape(action[1]))
    return session.post(target, {**hidden, **fields}, timeout=LIMIT_SECONDS)


def confirm(session: requests.Session, page: requests.Response, name: str) -> requests.Response:
    """Goes through the provider's forms: name, consent. Returns the first page of another server."""
    while "/interaction/" in page.url:
        page = submit(session, page, login=name, password="any")
    return page

"""A real Superset without dashboards, whose users come from the servers of an sso.yaml."""

import contextlib
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import requests
import yaml

from dashboards.tests.pages import Visitor
from e2e.limits import LIMIT_SECONDS
from e2e.stack import wait_until
from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.config.single_sign_on import ROLES
from tailrace_local import preflight
from tailrace_local.components.superset import Superset

DRIVER = Path(__file__).parent / "login_driver.py"


class _Progress:
    """Runs the commands of an installation, without a report."""

    def report(self, doing: str) -> None:
        pass

    def run(self, command, cwd=None, environment=None) -> None:
        words = [str(word) for word in command]
        subprocess.run(
            words, cwd=cwd, env={**os.environ, **(environment or {})}, check=True, capture_output=True
        )


class LoginSuperset:
    """Superset with the roles of sso.yaml and its administrator. `running` starts it."""

    def __init__(self, directory: Path, port: int) -> None:
        chosen = {
            "HOME": os.environ["HOME"],
            "TAILRACE_HOME": str(directory),
            "TAILRACE_PORT_SUPERSET": str(port),
        }
        kept = {name: os.environ[name] for name in ("TAILRACE_CACHE", "XDG_CACHE_HOME") if name in os.environ}
        self.settings = Settings.from_environment({**chosen, **kept, "TAILRACE_COMPONENTS": "superset"})
        self.home = Home(self.settings.home)
        self.component = Superset(self.settings, self.home)
        self.address = self.component.address()

    def configure(self, **content: object) -> None:
        """Writes sso.yaml."""
        self.settings.sso.write_text(yaml.safe_dump({"address": self.address, **content}))

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        self._install()
        self.component.check()
        self.component.prepare()
        with self._process(self.component.command()):
            wait_until(lambda: self.component.health().ok, "Superset to answer")
            yield

    @contextlib.contextmanager
    def driver(self, file: Path) -> Iterator[None]:
        """Runs login_driver.py with this sso.yaml in place of Superset."""
        self.settings.sso.symlink_to(file)
        self._install()
        with self._process([self.component.python(), DRIVER, file, str(self.settings.port_superset)]):
            wait_until(lambda: requests.get(self.address, timeout=LIMIT_SECONDS).status_code, "the driver")
            yield

    def _install(self) -> None:
        if not self.component.installed():
            progress = _Progress()
            if os.geteuid() == 0:
                preflight.install_packages([self.component], progress)
            self.component.install(progress)

    @contextlib.contextmanager
    def _process(self, command: Sequence[str | Path]) -> Iterator[None]:
        with open(self.home.log("superset"), "a") as log:
            process = subprocess.Popen(
                [str(word) for word in command],
                env={**os.environ, **self.component.environment()},
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        try:
            yield
        finally:
            process.terminate()
            process.wait()

    def make_roles(self) -> None:
        """Creates the roles, by the local administrator's login to the API."""
        self.client = self.component.client()
        for name in ROLES.values():
            if name != "Admin":
                self.client.post("/api/v1/security/roles/", {"name": name})

    def is_logged_in(self, session: requests.Session) -> bool:
        """Returns whether Superset refuses a request for lack of a role (403), not of a login (401)."""
        address, of_a_script = f"{self.address}/api/v1/me/roles/", {"Accept": "application/json"}
        answer = session.get(address, headers=of_a_script, timeout=LIMIT_SECONDS)
        assert answer.status_code in (401, 403), answer.status_code
        return answer.status_code == 403

    def roles_of(self, user: str) -> set[str] | None:
        """Returns the roles of a user; None if there is no such user."""
        users = self.client.every("/api/v1/security/users/", ["username", "roles.name"])
        found = [each for each in users if each["username"] == user]
        return {role["name"] for role in found[0]["roles"]} if found else None

    def visitor(self) -> Visitor:
        return Visitor(self.address)

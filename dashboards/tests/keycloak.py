"""A real Keycloak on loopback, from Maven Central, with a realm that has Tailrace as a client."""

import contextlib
import json
import os
import subprocess
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import requests

from e2e.limits import LIMIT_SECONDS
from e2e.stack import wait_until
from tailrace_local.supervisor import cache

VERSION = "26.7.3"
CLIENT, SECRET, PASSWORD = "tailrace", "only-for-tests", "only-for-tests"
GROUPS = {
    "name": "groups",
    "protocol": "openid-connect",
    "protocolMapper": "oidc-group-membership-mapper",
    "config": {
        "claim.name": "groups",
        "full.path": "false",
        "id.token.claim": "true",
        "userinfo.token.claim": "true",
    },
}


class Keycloak:
    """Keycloak in development mode, with its database in memory."""

    def __init__(self, cache_directory: Path, directory: Path, port: int) -> None:
        self.address = f"http://127.0.0.1:{port}"
        self.issuer = f"{self.address}/realms/tailrace"
        self._port = port
        self._log = directory / "keycloak.log"
        with zipfile.ZipFile(installed(cache_directory)) as archive:
            archive.extractall(directory)
        self._home = directory / f"keycloak-{VERSION}"

    def realm(self, superset: str, **people: str) -> None:
        """Writes the realm that the start imports: one client, people with one group each."""
        client = {
            "clientId": CLIENT,
            "secret": SECRET,
            "redirectUris": [f"{superset}/tailrace/login/oidc/callback"],
            "attributes": {
                "pkce.code.challenge.method": "S256",
                "post.logout.redirect.uris": f"{superset}/tailrace/login/",
            },
            "protocolMappers": [GROUPS],
        }
        users = [
            {
                "username": name,
                "enabled": True,
                "email": f"{name}@example.com",
                "firstName": name,
                "lastName": name,
                "groups": [f"/{group}"],
                "credentials": [{"type": "password", "value": PASSWORD}],
            }
            for name, group in people.items()
        ]
        content = {
            "realm": "tailrace",
            "enabled": True,
            "sslRequired": "none",
            "clients": [client],
            "groups": [{"name": group} for group in sorted(set(people.values()))],
            "users": users,
        }
        target = self._home / "data" / "import"
        target.mkdir(parents=True)
        (target / "tailrace-realm.json").write_text(json.dumps(content))

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        command = ["bash", self._home / "bin" / "kc.sh", "start-dev", "--import-realm"]
        options = ["--http-host=127.0.0.1", f"--http-port={self._port}", "--db=dev-mem", "--cache=local"]
        account = {"KC_BOOTSTRAP_ADMIN_USERNAME": "root", "KC_BOOTSTRAP_ADMIN_PASSWORD": PASSWORD}
        with open(self._log, "w") as log:
            process = subprocess.Popen(
                [*command, *options], env={**os.environ, **account}, stdout=log, stderr=subprocess.STDOUT
            )
        try:
            configuration = f"{self.issuer}/.well-known/openid-configuration"
            wait_until(lambda: requests.get(configuration, timeout=LIMIT_SECONDS).ok, "Keycloak")
            yield
        finally:
            process.terminate()
            process.wait()

    def leave_groups(self, name: str) -> None:
        """Removes a person from all groups."""
        user = self._user(name)
        for group in self._call("GET", f"users/{user['id']}/groups").json():
            self._call("DELETE", f"users/{user['id']}/groups/{group['id']}")

    def disable(self, name: str) -> None:
        user = self._user(name)
        self._call("PUT", f"users/{user['id']}", {**user, "enabled": False})

    def _user(self, name: str) -> dict:
        (found,) = self._call("GET", f"users?exact=true&username={name}").json()
        return found

    def _call(self, method: str, path: str, content: Mapping[str, object] | None = None) -> requests.Response:
        account = {
            "grant_type": "password",
            "client_id": "admin-cli",
            "username": "root",
            "password": PASSWORD,
        }
        token = requests.post(
            f"{self.address}/realms/master/protocol/openid-connect/token", account, timeout=LIMIT_SECONDS
        ).json()["access_token"]
        answer = requests.request(
            method,
            f"{self.address}/admin/realms/tailrace/{path}",
            json=content,
            headers={"Authorization": f"Bearer {token}"},
            timeout=LIMIT_SECONDS,
        )
        answer.raise_for_status()
        return answer


def installed(cache_directory: Path) -> Path:
    """Returns the archive. Raises CalledProcessError without Maven Central."""
    entry = cache_directory / "keycloak" / VERSION
    if not entry.exists():
        with cache.build(entry) as draft:
            artifact = f"-Dartifact=org.keycloak:keycloak-quarkus-dist:{VERSION}:zip"
            command = ["mvn", "-q", "dependency:copy", artifact, f"-DoutputDirectory={draft}"]
            subprocess.run(command, check=True, capture_output=True, timeout=1200)
    return next(entry.glob("*.zip"))

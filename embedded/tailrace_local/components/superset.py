"""Superset: the dashboards' server with a separate Python environment, and the import of dashboards/."""

import json
import os
import secrets
import shutil
import sqlite3
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from tailrace.clickhouse import row_policies
from tailrace.config import content_hash, single_sign_on
from tailrace.config.home import Home
from tailrace.config.resources import PYTHON_PATH, REPOSITORY, ROOT
from tailrace.config.settings import Settings
from tailrace.config.yaml_reader import ConfigurationError
from tailrace.credentials.certificates import Certificates
from tailrace.credentials.names import password_name
from tailrace.dashboards import roles as dashboard_roles
from tailrace.dashboards.connections import (
    ADMINISTRATOR,
    ANALYST,
    PASSWORD,
    RECORDER,
    USERS,
    Connections,
    connections_to,
    password_of,
)
from tailrace.dashboards.superset_client import Client
from tailrace.kafka.accounts import password_name as kafka_password
from tailrace.programs import evidence, fingerprint
from tailrace.programs.program import HEALTHY, Health
from tailrace_local import clickhouse as local_clickhouse
from tailrace_local import kafka
from tailrace_local.supervisor import cache
from tailrace_local.supervisor.component import Component, Progress

EMBEDDED = REPOSITORY / "embedded" / "superset"
REQUIREMENTS = EMBEDDED / "requirements.lock"
LDAP_REQUIREMENTS = EMBEDDED / "ldap.lock"
INSTALLER = EMBEDDED / "installer.lock"
CONFIGURATION = EMBEDDED / "superset_config.py"
METADATA = EMBEDDED / "metadata.py"
STATIC_ASSETS = EMBEDDED / "static_assets.py"
CAPTURE = ROOT / "collectors" / "capture"
CHART_LIBRARY = ("package.json", "package-lock.json")
"""The files of EMBEDDED that name the chart library of the work pages, for npm."""
CHART_FILES = ("dist/uPlot.iife.min.js", "dist/uPlot.min.css", "LICENSE")

INSTALLATION = "2"
"""Raise it when `install` makes something else of the same packages."""

LDAP_PACKAGES = {
    "gcc": "/usr/bin/gcc",
    "libldap-dev": "/usr/include/ldap.h",
    "libsasl2-dev": "/usr/include/sasl/sasl.h",
}
SECRET_KEY = "superset-secret-key"
KAFKA_ACCOUNT = "rules"
"""The account of Kafka with which the alert inbox suppresses alerts; the same as of `tailrace alerts`."""
THREADS = 16


class Superset(Component):
    """One gunicorn worker with threads, which suits SQLite metadata and file caches."""

    name = "superset"
    needs = ("clickhouse",)
    tools = ("npm",)
    start_seconds = 120

    def check(self) -> None:
        single_sign_on.load(self.settings.sso)

    @property
    def os_packages(self) -> Mapping[str, str]:
        return LDAP_PACKAGES if self._uses_ldap() else {}

    def _uses_ldap(self) -> bool:
        """Whether sso.yaml needs python-ldap, which is built from source; `check` reports its errors."""
        try:
            settings = single_sign_on.load(self.settings.sso)
        except ConfigurationError:
            return False
        return bool(settings and settings.ldap)

    def installed(self) -> bool:
        return cache.is_complete(self._entry()) and all(map(cache.is_complete, self._ldap_path()))

    def install(self, progress: Progress) -> None:
        if not cache.is_complete(self._entry()):
            self._install_superset(progress)
        for entry in self._ldap_path():
            self._install_ldap(entry, progress)

    def _install_ldap(self, entry: Path, progress: Progress) -> None:
        with cache.build_in_place(entry):
            progress.report("building python-ldap 3.4.8")
            options = ["--quiet", "--require-hashes", "--no-deps", "--target", entry, "-r", LDAP_REQUIREMENTS]
            progress.run([self.python(), "-m", "pip", "install", *options])

    def _ldap_path(self) -> tuple[Path, ...]:
        """The directory with python-ldap, if it is needed."""
        entry = self.settings.cache / "superset-ldap" / content_hash.fingerprint(LDAP_REQUIREMENTS)
        return (entry,) if self._uses_ldap() else ()

    def _install_superset(self, progress: Progress) -> None:
        """Creates a venv with every package pinned by hash, and an empty metadata database as a template."""
        with cache.build_in_place(self._entry()) as entry:
            progress.report("installing Superset 6.1.0 (156 Python packages, 250 MB)")
            progress.run([sys.executable, "-m", "venv", entry])
            pip = [self.python(), "-m", "pip", "install", "--quiet", "--require-hashes", "--no-deps"]
            progress.run([*pip, "-r", INSTALLER])
            # uv takes seconds where pip takes one to two minutes, with the same index and hashes.
            uv = [entry / "bin" / "uv", "pip", "install", "--quiet", "--require-hashes", "--no-deps"]
            # Where PYTHONDONTWRITEBYTECODE is set, each start would compile for five seconds.
            progress.run([*uv, "--compile-bytecode", "--python", self.python(), "-r", REQUIREMENTS])
            self._install_chart_library(progress)
            (assets,) = entry.glob("lib/python*/site-packages/superset/static/assets")
            progress.run([self.python(), STATIC_ASSETS, assets])
            progress.report("creating Superset's metadata tables")
            self._make_template(progress)

    def _install_chart_library(self, progress: Progress) -> None:
        """Puts uPlot where tailrace_pages/static_files.py finds it, below the environment's directory."""
        draft, target = self._entry() / "npm", self._entry() / "share" / "tailrace" / "uplot"
        draft.mkdir(exist_ok=True)
        target.mkdir(parents=True, exist_ok=True)
        for name in CHART_LIBRARY:
            shutil.copy(EMBEDDED / name, draft)
        progress.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=draft)
        for name in CHART_FILES:
            shutil.copy(draft / "node_modules" / "uplot" / name, target)
        shutil.rmtree(draft)

    def _make_template(self, progress: Progress) -> None:
        """Runs the initial migrations once, which takes half a minute; later starts copy the result.

        The template has an administrator with a random password, which each copy replaces.
        """
        template = self._template()
        template.mkdir(exist_ok=True)
        key, password = template / "secret-key", template / "password"
        key.write_text("only used to make tables: encrypts nothing")
        password.write_text(secrets.token_urlsafe())
        for words in (["upgrade"], ["administrator", password]):
            progress.run([self.python(), METADATA, *words], environment=_variables(template, key))
        password.unlink()

    def prepare(self) -> None:
        """Copies or migrates the metadata database and sets the administrator's password, if needed."""
        self._make_database()
        with closing(sqlite3.connect(self._database())) as metadata:
            metadata.execute("PRAGMA journal_mode = WAL")  # pages can be read during an import

    def _make_database(self) -> None:
        marker = self._data() / "prepared-for"
        wanted = content_hash.fingerprint(REQUIREMENTS, self.home.secret(PASSWORD))
        if marker.exists() and marker.read_text() == wanted:
            return
        database = self._database()
        password = self.home.secret_file(PASSWORD)
        if database.exists():
            self._metadata("upgrade")
            self._metadata("administrator", password)
        else:
            draft = database.with_suffix(".draft")
            shutil.copy(self._template() / "superset.db", draft)
            self._metadata("password", draft, password)
            draft.replace(database)
        marker.write_text(wanted)

    def _database(self) -> Path:
        return self._data() / "superset.db"

    def command(self) -> Sequence[str | Path]:
        return [
            self._entry() / "bin" / "gunicorn",
            *("--bind", f"127.0.0.1:{self.settings.port_superset}"),
            *("--workers", "1", "--worker-class", "gthread", "--threads", str(THREADS)),
            *("--timeout", "120", "--access-logfile", "-"),
            # The heartbeat files of workers: in memory, or a slow disk would look like a dead worker.
            *("--worker-tmp-dir", "/dev/shm"),
            # The default is in the user's home directory, shared by all stacks.
            "--no-control-socket",
            *self._tls_options(),
            "superset.app:create_app()",
        ]

    def tls(self) -> ssl.SSLContext | None:
        """The context that verifies its certificate, if it has one."""
        return self._certificates.client() if self._certificates.exist() else None

    def certificate_file(self) -> Path | None:
        """Its certificate and key (PEM), if it has them."""
        return self._certificates.file(self.name) if self._certificates.exist() else None

    def _tls_options(self) -> list[str | Path]:
        file = self.certificate_file()
        return ["--certfile", file, "--keyfile", file] if file else []

    @property
    def _certificates(self) -> Certificates:
        return Certificates(self.home)

    def environment(self) -> Mapping[str, str]:
        clickhouse = local_clickhouse.address(self.settings, self.home)
        accounts = {
            "SUPERSET_ACCESS_RECORDER_URL": clickhouse,
            "SUPERSET_ACCESS_RECORDER_PASSWORD_FILE": str(self.home.secret_file(password_name(RECORDER))),
            "SUPERSET_ANALYST_URL": clickhouse,
            "SUPERSET_ANALYST_PASSWORD_FILE": str(self.home.secret_file(password_name(ANALYST))),
        }
        reports = {"SUPERSET_REPORTS": "true"} if self.settings.reports_config.exists() else {}
        sso = {"SUPERSET_SSO_FILE": str(self.settings.sso)} if self.settings.sso.exists() else {}
        https = {"SUPERSET_HTTPS": "true"} if self._certificates.exist() else {}
        services = {
            "SUPERSET_EVIDENCE_SOCKET": str(evidence.socket_of(self.home)),
            "SUPERSET_FINGERPRINT_SOCKET": str(fingerprint.socket_of(self.home)),
        }
        own = _variables(self._data(), self.home.secret_file(SECRET_KEY), *self._ldap_path())
        own["SUPERSET_RISK_HALF_LIFE"] = str(self.settings.risk_half_life)
        own["SUPERSET_TRUSTED_PROXIES"] = self.settings.superset_trusted_proxies
        return {**own, **accounts, **services, **self._kafka_variables(), **reports, **https, **sso}

    def _kafka_variables(self) -> dict[str, str]:
        """For suppressions of alerts; without them the alert inbox has none."""
        chosen = self.settings.chosen_components()
        if chosen and "kafka" not in chosen:
            return {}
        client = kafka.connect(self.settings, self.home, KAFKA_ACCOUNT)
        if not client.properties:
            return {"SUPERSET_KAFKA": client.address}
        public = {name: value for name, value in client.properties.items() if name != "sasl.password"}
        return {
            "SUPERSET_KAFKA": client.address,
            "SUPERSET_KAFKA_PROPERTIES": json.dumps(public),
            "SUPERSET_KAFKA_PASSWORD_FILE": str(self.home.secret_file(kafka_password(KAFKA_ACCOUNT))),
        }

    def ports(self) -> Mapping[str, int]:
        return {"HTTP": self.settings.port_superset}

    def health(self) -> Health:
        try:
            address = f"{self.address()}/health"
            with urllib.request.urlopen(address, timeout=1, context=self.tls()) as answer:
                return HEALTHY if answer.read() == b"OK" else Health.failing("answers, but not with OK")
        except urllib.error.HTTPError as error:
            return Health.failing(f"answers with HTTP {error.code}")

    def provision(self) -> None:
        """Imports dashboards/ with roles, overwriting existing assets, and creates a user for each
        audience."""
        client = self.client()
        restrictions = row_policies.load(self.settings.access)
        its_connections = connections(self.settings, self.home)
        dashboard_roles.publish(client, its_connections, restrictions, self.import_record())
        self._make_users(client)

    def import_record(self) -> Path:
        """What was imported, see `tailrace.dashboards.assets.apply`."""
        return self._data() / "dashboards-imported"

    def client(self) -> Client:
        """Returns a session of the administrator."""
        return Client(self.address(), ADMINISTRATOR, self.home.secret(PASSWORD), self.tls())

    def _make_users(self, client: Client) -> None:
        """Creates missing users. Existing ones keep their other roles; a new password in the home's secrets
        is set."""
        marker = self._data() / "users-made-for"
        passwords = {user: self.home.secret(password_of(user)) for user in USERS}
        wanted = content_hash.fingerprint(*passwords.values())
        is_new = not marker.exists() or marker.read_text() != wanted
        for user, password in passwords.items():
            dashboard_roles.ensure_user(
                client, user, dashboard_roles.load()[user].name, password, reset=is_new
            )
        marker.write_text(wanted)

    def version(self) -> str:
        installed = self._entry().glob("lib/python*/site-packages/apache_superset-*.dist-info")
        return next(installed).name.removeprefix("apache_superset-").removesuffix(".dist-info")

    def address(self) -> str:
        return address(self.settings, self.home)

    def _metadata(self, *arguments: str | Path) -> None:
        command = [self.python(), METADATA, *arguments]
        done = subprocess.run(
            command, env={**os.environ, **self.environment()}, capture_output=True, text=True, check=False
        )
        if done.returncode:
            output = "\n".join((done.stdout + done.stderr).splitlines()[-20:])
            raise RuntimeError(f"Superset's metadata could not be prepared ({arguments[0]}):\n{output}")

    def _data(self) -> Path:
        return self.home.data(self.name)

    def _entry(self) -> Path:
        files = (REQUIREMENTS, INSTALLER, STATIC_ASSETS, *(EMBEDDED / name for name in CHART_LIBRARY))
        return self.settings.cache / self.name / content_hash.fingerprint(*files, INSTALLATION)

    def python(self) -> Path:
        """The Python interpreter with Superset's packages."""
        return self._entry() / "bin" / "python"

    def _template(self) -> Path:
        return self._entry() / "template"


def address(settings: Settings, home: Home) -> str:
    """Returns the URL of the dashboards."""
    scheme = "https" if Certificates(home).exist() else "http"
    return f"{scheme}://127.0.0.1:{settings.port_superset}"


def logins(home: Home) -> str:
    """Returns a line with the users of the dashboards and the location of their passwords."""
    names = f"{', '.join(USERS)} or {ADMINISTRATOR}"
    return f"log in as {names}; passwords: {home.secret_file(PASSWORD).parent}/superset-<user>"


def connections(settings: Settings, home: Home) -> Connections:
    """Returns address and password of the local ClickHouse, by file of dashboards/databases."""
    certificates = Certificates(home)
    authorities = certificates.trust if certificates.exist() else None
    return connections_to(f"127.0.0.1:{settings.port_clickhouse}", home.secret, authorities=authorities)


def _variables(directory: Path, secret_key: Path, *more_packages: Path) -> dict[str, str]:
    """Returns the environment of superset_config.py, with UTC: Superset uses its process's time zone for
    "now"."""
    return {
        "SUPERSET_CONFIG_PATH": str(CONFIGURATION),
        # For the modules tailrace_*.py, and the package tailrace that tailrace_pages uses.
        # And the checks of tailrace doctor, for the page Setup.
        "PYTHONPATH": os.pathsep.join(map(str, (CONFIGURATION.parent, PYTHON_PATH, CAPTURE, *more_packages))),
        "SUPERSET_HOME": str(directory),
        "SUPERSET_SECRET_KEY_FILE": str(secret_key),
        "TZ": "UTC",
    }

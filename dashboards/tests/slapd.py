"""A real OpenLDAP server on loopback with TLS: Debian's packages, unpacked into the cache."""

import contextlib
import os
import subprocess
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

from e2e.limits import LIMIT_SECONDS
from e2e.stack import wait_until
from tailrace.config import content_hash
from tailrace_local.supervisor import cache

PACKAGES = ("slapd", "ldap-utils", "libodbc2", "libltdl7", "libwrap0")
DOWNLOAD_SECONDS = 600
BIND_DN = "cn=tailrace,dc=example"
PASSWORD = "only-for-tests"
CONFIGURATION = """
moduleload {libraries}/back_mdb.la
moduleload {libraries}/ppolicy.la
include {schema}/core.schema
include {schema}/cosine.schema
include {schema}/inetorgperson.schema
pidfile {directory}/pid
TLSCertificateFile {certificate}
TLSCertificateKeyFile {certificate}
security simple_bind=128
localSSF 256
disallow bind_anon
database mdb
suffix dc=example
rootdn cn=root,dc=example
rootpw {password}
directory {directory}/data
overlay ppolicy
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact={bind_dn} read by * none
"""
ENTRIES = """
dn: dc=example
objectClass: dcObject
objectClass: organization
dc: example
o: example

dn: cn=tailrace,dc=example
objectClass: organizationalRole
objectClass: simpleSecurityObject
cn: tailrace
userPassword: {password}

dn: ou=people,dc=example
objectClass: organizationalUnit
ou: people

dn: ou=groups,dc=example
objectClass: organizationalUnit
ou: groups
"""
PERSON = """dn: {dn}
changetype: add
objectClass: inetOrgPerson
uid:: {uid}
cn: a person
sn: person
mail: a@example.com
userPassword: {password}
"""
GROUP = """dn: cn={name},ou=groups,dc=example
changetype: add
objectClass: groupOfNames
cn: {name}
{members}
"""
DISABLE = """dn: {dn}
changetype: modify
add: pwdAccountLockedTime
pwdAccountLockedTime: 000001010000Z
"""


class Slapd:
    """A running server. `ldap` and `ldaps` are its addresses."""

    def __init__(self, root: Path, directory: Path, port: int, certificate: Path) -> None:
        """`port` and the next one must be free. `certificate`: PEM with key and certificate."""
        self._root = root
        self._directory = directory
        self._libraries = next((root / "usr" / "lib").glob("*-linux-gnu"))
        self._socket = "ldapi://" + str(directory / "socket").replace("/", "%2F")
        self.ldap, self.ldaps = f"ldap://127.0.0.1:{port}", f"ldaps://127.0.0.1:{port + 1}"
        (directory / "data").mkdir()
        (directory / "slapd.conf").write_text(
            CONFIGURATION.format(
                libraries=root / "usr" / "lib" / "ldap",
                schema=root / "etc" / "ldap" / "schema",
                directory=directory,
                certificate=certificate,
                bind_dn=BIND_DN,
                password=PASSWORD,
            )
        )
        self.run(
            "sbin/slapd", "-T", "add", "-f", directory / "slapd.conf", given=ENTRIES.format(password=PASSWORD)
        )

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        addresses = " ".join((self.ldap, self.ldaps, self._socket))
        command = [
            self._root / "usr/sbin/slapd",
            "-d",
            "none",
            "-f",
            self._directory / "slapd.conf",
            "-h",
            addresses,
        ]
        with open(self._directory / "slapd.log", "w") as log:
            process = subprocess.Popen(command, env=self._environment(), stdout=log, stderr=subprocess.STDOUT)
        try:
            wait_until(lambda: self.modify("") is None, "slapd to answer")
            yield
        finally:
            process.kill()
            process.wait()

    def person(self, name: str, groups: tuple[str, ...] = ()) -> None:
        """Adds a person with PASSWORD, and its groups, which have no other member."""
        self.modify(PERSON.format(dn=dn_of(name), uid=b64encode(name.encode()).decode(), password=PASSWORD))
        for group in groups:
            self.group(group, name)

    def group(self, name: str, *people: str) -> None:
        members = "\n".join(f"member: {dn_of(each)}" for each in people)
        self.modify(GROUP.format(name=name, members=members))

    def remove_group(self, name: str) -> None:
        self.modify(f"dn: cn={name},ou=groups,dc=example\nchangetype: delete\n")

    def disable(self, name: str) -> None:
        self.modify(DISABLE.format(dn=dn_of(name)))

    def modify(self, changes: str) -> None:
        """Applies changes in LDIF as the root of the directory. Raises OSError if it is refused."""
        words = ["-H", self._socket, "-x", "-D", "cn=root,dc=example", "-w", PASSWORD]
        self.run("bin/ldapmodify", *words, given=changes)

    def run(self, program: str, *words: str | Path, given: str = "") -> None:
        """Runs a program of the packages. Raises OSError with its message if it fails."""
        command = [self._root / "usr" / program, *words]
        done = subprocess.run(
            command,
            input=given,
            env=self._environment(),
            capture_output=True,
            text=True,
            timeout=LIMIT_SECONDS,
            check=False,
        )
        if done.returncode:
            raise OSError(f"{program}: {done.stderr}")

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "LD_LIBRARY_PATH": str(self._libraries)}


def dn_of(name: str) -> str:
    """Returns the DN of a person, with every character of the name that has a meaning in one escaped."""
    escaped = "".join(
        each if each.isalnum() else "".join(f"\\{byte:02x}" for byte in each.encode()) for each in name
    )
    return f"uid={escaped},ou=people,dc=example"


def installed(cache_directory: Path) -> Path:
    """Returns the directory of the unpacked packages. Raises CalledProcessError without Debian's registry."""
    entry = cache_directory / "slapd" / content_hash.fingerprint(*PACKAGES)
    if not entry.exists():
        with cache.build(entry) as draft:
            try:
                _download(draft)
            except subprocess.CalledProcessError:  # missing or old package lists
                subprocess.run(["apt-get", "update", "-qq"], check=True, capture_output=True)
                _download(draft)
            for archive in sorted(draft.glob("*.deb")):
                subprocess.run(["dpkg-deb", "-x", archive, draft], check=True)
                archive.unlink()
    return entry


def _download(directory: Path) -> None:
    command = ["apt-get", "download", "-qq", *PACKAGES]
    subprocess.run(command, cwd=directory, check=True, capture_output=True, timeout=DOWNLOAD_SECONDS)

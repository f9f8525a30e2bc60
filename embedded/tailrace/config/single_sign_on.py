"""Reads sso.yaml: the servers that authenticate users of Superset, and the roles of their groups.

docs/SSO.md explains the keys. Superset's package `tailrace_sso` uses the result.
"""

import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tailrace.config import yaml_reader
from tailrace.config.yaml_reader import ConfigurationError, Section

ROLES = {
    "developer": "Tailrace developer",
    "compliance": "Tailrace compliance",
    "security": "Tailrace security",
    "unmasked": "Tailrace unmasked samples",
    "admin": "Tailrace admin",
    "superset_admin": "Admin",
}
"""Keys of `roles` with the names of Superset's roles. docs/ROLES.md describes what each one shows."""
CALLBACK = "/tailrace/login/oidc/callback"
"""Path of the redirect URI, which is registered at the OpenID provider."""
_LDAP_PORTS = {"ldaps": 636, "ldap": 389}


@dataclass(frozen=True)
class Oidc:
    """An OpenID provider and Tailrace's client of it."""

    issuer: str
    client_id: str
    client_secret_file: Path
    title: str
    scopes: tuple[str, ...]
    name_claim: str
    groups_claim: str
    """Path of the claim with the names of the groups; dots separate nested objects."""
    ca_file: Path | None

    def secret(self) -> str:
        return self.client_secret_file.read_text().strip()


@dataclass(frozen=True)
class Ldap:
    """A directory server, and where it stores people and groups."""

    url: str
    title: str
    starttls: bool
    ca_file: Path | None
    bind_dn: str
    bind_password_file: Path
    people_base: str
    people_filter: str
    name_attribute: str
    id_attribute: str
    """The attribute that identifies a person also after a change of the name."""
    groups_base: str
    groups_member: str
    """The attribute of a group with the DNs of its members; may be a matching rule, such as AD's for nested
    groups."""
    timeout: int
    """Of each request, in seconds."""

    def password(self) -> str:
        return self.bind_password_file.read_text().strip()


@dataclass(frozen=True)
class Sessions:
    """Limits of a login, in seconds."""

    recheck: int = 5 * 60
    """After this time, the next request reads the groups again."""
    idle: int = 12 * 3600
    """A session without a request ends."""
    lifetime: int = 7 * 86_400
    """A session ends, also if it is used."""


@dataclass(frozen=True)
class SingleSignOn:
    """The content of sso.yaml."""

    address: str
    """Superset's address in browsers, without a slash at the end."""
    oidc: Oidc | None
    ldap: Ldap | None
    roles: Mapping[str, str]
    """Names of Superset's roles by group."""
    sessions: Sessions

    def roles_of(self, groups: frozenset[str]) -> list[str]:
        """Returns the names of Superset's roles for these groups, sorted; empty if none is mapped."""
        return sorted({self.roles[group] for group in groups if group in self.roles})


def load(file: Path) -> SingleSignOn | None:
    """Returns the content of the file; None without the file. Raises ConfigurationError."""
    if not file.exists():
        return None
    top = yaml_reader.read(file)
    oidc = _oidc(top.inner("oidc")) if top.take("oidc", yaml_reader.section, None) else None
    ldap = _ldap(top.inner("ldap")) if top.take("ldap", yaml_reader.section, None) else None
    if not (oidc or ldap):
        raise ConfigurationError(f"{file}: needs the section `oidc` or `ldap`")
    address = top.need("address", _encrypted).rstrip("/")
    roles = _roles(top.inner("roles"))
    sessions = (
        _sessions(top.inner("session")) if top.take("session", yaml_reader.section, None) else Sessions()
    )
    top.close()
    return SingleSignOn(address, oidc, ldap, roles, sessions)


def _oidc(section: Section) -> Oidc:
    found = Oidc(
        issuer=section.need("issuer", _encrypted).rstrip("/"),
        client_id=section.need("client_id", yaml_reader.text),
        client_secret_file=section.file("client_secret_file", needed=True),
        title=section.take("title", yaml_reader.text, "single sign-on"),
        scopes=tuple(section.take("scopes", _scopes, ["openid", "profile", "email"])),
        name_claim=section.take("name_claim", yaml_reader.text, "preferred_username"),
        groups_claim=section.take("groups_claim", yaml_reader.text, "groups"),
        ca_file=section.file("ca_file"),
    )
    section.close()
    return found


def _ldap(section: Section) -> Ldap:
    starttls = section.take("starttls", _yes_or_no, False)
    found = Ldap(
        url=section.need("url", _directory(starttls)),
        title=section.take("title", yaml_reader.text, "directory account"),
        starttls=starttls,
        ca_file=section.file("ca_file"),
        bind_dn=section.need("bind_dn", yaml_reader.text),
        bind_password_file=section.file("bind_password_file", needed=True),
        people_base=section.need("people_base", yaml_reader.text),
        people_filter=section.take("people_filter", _filter, "(objectClass=person)"),
        name_attribute=section.take("name_attribute", yaml_reader.name, "uid"),
        id_attribute=section.take("id_attribute", yaml_reader.name, "entryUUID"),
        groups_base=section.need("groups_base", yaml_reader.text),
        groups_member=section.take("groups_member", yaml_reader.text, "member"),
        timeout=section.take("timeout", yaml_reader.span, 10),
    )
    section.close()
    return found


def _sessions(section: Section) -> Sessions:
    usual = Sessions()
    found = Sessions(
        recheck=section.take("recheck", yaml_reader.span, usual.recheck),
        idle=section.take("idle", yaml_reader.span, usual.idle),
        lifetime=section.take("lifetime", yaml_reader.span, usual.lifetime),
    )
    section.close()
    if not found.recheck <= found.idle <= found.lifetime:
        raise ConfigurationError(f"{section.where}: expected recheck <= idle <= lifetime")
    return found


def _roles(section: Section) -> dict[str, str]:
    """Returns role by group. A group has one role; a person with several groups has several roles."""
    found: dict[str, str] = {}
    for key, role in ROLES.items():
        for group in section.take(key, yaml_reader.texts, []):
            if group in found:
                raise ConfigurationError(f"{section.where}: the group {group!r} has two roles")
            found[group] = role
    section.close()
    if not found:
        raise ConfigurationError(f"{section.where}: no group has a role, so no user could log in")
    return found


# --- readers: each returns the value, or raises ValueError with the expected form -------------------------


def _encrypted(value: object) -> str:
    if not yaml_reader.keeps_secrets(yaml_reader.url(value)):
        raise ValueError(f"an address that begins with https://, or one of this machine, not {value!r}")
    if urllib.parse.urlsplit(str(value)).query or urllib.parse.urlsplit(str(value)).fragment:
        raise ValueError(f"an address without `?` and `#`, not {value!r}")
    return str(value)


def _directory(starttls: bool) -> Callable[[object], str]:
    def reader(value: object) -> str:
        parsed = urllib.parse.urlsplit(value if isinstance(value, str) else "")
        if parsed.scheme not in _LDAP_PORTS or not parsed.hostname or parsed.path.strip("/"):
            raise ValueError(f"an address such as ldaps://ldap.example:636, not {value!r}")
        if parsed.scheme == "ldaps" and starttls:
            raise ValueError("ldap:// with `starttls: true`, or ldaps:// without it")
        if parsed.scheme == "ldap" and not starttls:
            raise ValueError(f"encrypted: use ldaps://, or `starttls: true`, not {value!r}")
        return str(value)

    return reader


def _scopes(value: object) -> list[str]:
    scopes = yaml_reader.texts(value)
    if "openid" not in scopes:
        raise ValueError(f"a list with `openid`, not {value!r}")
    return scopes


def _filter(value: object) -> str:
    written = yaml_reader.text(value)
    if not (written.startswith("(") and written.endswith(")") and written.count("(") == written.count(")")):
        raise ValueError(f"a filter in parentheses, such as (objectClass=person), not {value!r}")
    return written


def _yes_or_no(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"true or false, not {value!r}")
    return value

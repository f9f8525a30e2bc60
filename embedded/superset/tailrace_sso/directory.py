"""LDAP: finds a person by name, verifies the password with a bind, and reads the groups.

Every connection is encrypted, and the server's certificate is verified. The names that people type are
escaped, so that they are only compared. python-ldap is imported at the first use: without the section `ldap`
it is not installed.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tailrace.config.single_sign_on import Ldap
from tailrace_sso.person import LoginError, Person, RevokedError, UnreachableError, checked_name

NAME = "ldap"
WRONG = "Name or password is wrong, or the account is disabled."
"""The same for each, so that the answer does not show which names exist."""

_log = logging.getLogger(__name__)


class Directory:
    """The directory of sso.yaml. Raises UnreachableError if it does not answer, otherwise LoginError."""

    def __init__(self, settings: Ldap) -> None:
        self._settings = settings

    @property
    def title(self) -> str:
        return self._settings.title

    def log_in(self, name: str, password: str) -> Person:
        """Returns the person with this name and password."""
        import ldap

        if not name or not password or "\0" in name + password:
            raise LoginError(WRONG)  # a bind without a password succeeds without verifying anything
        with self._connection() as connection:
            dn, entry = self._found(connection, f"({self._settings.name_attribute}={_escaped(name)})")
            person = self._person(connection, dn, entry)
        with self._opened() as own:
            try:
                own.simple_bind_s(dn, password)
            except (ldap.INVALID_CREDENTIALS, ldap.UNWILLING_TO_PERFORM, ldap.CONSTRAINT_VIOLATION):
                raise LoginError(WRONG) from None
        return person

    def renewed(self, subject: str) -> Person:
        """Returns the person as the directory knows it now. Raises RevokedError if it is gone or disabled."""
        with self._connection() as connection:
            try:
                dn, entry = self._found(connection, f"({self._settings.id_attribute}={_bytes(subject)})")
            except LoginError:
                raise RevokedError("The directory no longer has your account.") from None
            return self._person(connection, dn, entry)

    def _found(self, connection: Any, condition: str) -> tuple[str, dict[str, list[bytes]]]:
        """Returns DN and attributes of the only person with this condition."""
        settings = self._settings
        found = self._search(
            connection,
            settings.people_base,
            f"(&{settings.people_filter}{condition})",
            [settings.name_attribute, settings.id_attribute, "mail", "givenName", "sn"],
        )
        if len(found) != 1:
            if found:
                _log.warning("the directory has %d entries with %r", len(found), condition)
            raise LoginError(WRONG)
        return found[0]

    def _person(self, connection: Any, dn: str, entry: dict[str, list[bytes]]) -> Person:
        settings = self._settings
        condition = f"({settings.groups_member}={_escaped(dn)})"
        groups = self._search(connection, settings.groups_base, condition, ["cn"])
        return Person(
            provider=NAME,
            # In hexadecimal digits: Active Directory's objectGUID is no text.
            subject=_identity(entry, settings.id_attribute).hex(),
            # As the directory writes it: its comparison ignores case and blanks.
            name=checked_name(_first(entry, settings.name_attribute)),
            groups=frozenset(name for group, its in groups for name in (group, _first(its, "cn")) if name),
            email=_first(entry, "mail"),
            first_name=_first(entry, "givenName"),
            last_name=_first(entry, "sn"),
        )

    def _search(
        self, connection: Any, base: str, condition: str, attributes: list[str]
    ) -> list[tuple[str, dict]]:
        import ldap

        found = connection.search_s(base, ldap.SCOPE_SUBTREE, condition, attributes)
        return [(dn, _by_name(its, attributes)) for dn, its in found if dn is not None]

    @contextmanager
    def _connection(self) -> Iterator[Any]:
        """A connection as the account of sso.yaml, which may search."""
        import ldap

        with self._opened() as connection:
            try:
                connection.simple_bind_s(self._settings.bind_dn, self._settings.password())
            except ldap.INVALID_CREDENTIALS:
                _log.error("the directory refuses bind_dn or bind_password_file of sso.yaml")
                raise UnreachableError("The directory refuses Tailrace's own account.") from None
            yield connection

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        import ldap

        try:
            connection = self._encrypted()
            try:
                yield connection
            finally:
                connection.unbind_s()
        except ldap.LDAPError as error:
            _log.warning("the directory does not answer: %r", str(error))
            raise UnreachableError("The directory does not answer. Try again later.") from error

    def _encrypted(self) -> Any:
        import ldap

        settings = self._settings
        connection = ldap.initialize(settings.url)
        for option, value in (
            (ldap.OPT_PROTOCOL_VERSION, ldap.VERSION3),
            (ldap.OPT_REFERRALS, 0),
            (ldap.OPT_NETWORK_TIMEOUT, settings.timeout),
            (ldap.OPT_TIMEOUT, settings.timeout),
            (ldap.OPT_X_TLS_REQUIRE_CERT, ldap.OPT_X_TLS_DEMAND),
            *([(ldap.OPT_X_TLS_CACERTFILE, str(settings.ca_file))] if settings.ca_file else []),
            (ldap.OPT_X_TLS_NEWCTX, 0),  # the last one: it applies the others
        ):
            connection.set_option(option, value)
        if settings.starttls:
            connection.start_tls_s()
        return connection


def _escaped(value: str) -> str:
    from ldap.filter import escape_filter_chars

    return escape_filter_chars(value)


def _bytes(digits: str) -> str:
    """Returns the value with these hexadecimal digits as a filter writes it."""
    return "".join(f"\\{byte:02x}" for byte in bytes.fromhex(digits))


def _identity(entry: dict[str, list[bytes]], name: str) -> bytes:
    if not entry.get(name):
        raise LoginError(f"The directory's entry has no attribute {name}, or does not show it to Tailrace.")
    return entry[name][0]


def _by_name(attributes: dict[str, list[bytes]], wanted: list[str]) -> dict[str, list[bytes]]:
    """Returns the attributes under the names that were asked for: servers may answer in another case."""
    written = {name.lower(): values for name, values in attributes.items()}
    return {name: written.get(name.lower(), []) for name in wanted}


def _first(entry: dict[str, list[bytes]], name: str) -> str:
    values = entry.get(name, [])
    return values[0].decode("utf-8", "backslashreplace") if values else ""

"""The user of Superset for a person of a server: created at the first login, with the roles of the groups.

The table `tailrace_identities` in Superset's database records which users belong to which person. A user that
is in it has no password, and one that is not in it has no login by a server: neither a name at the provider
opens a local account, nor does a local password outlive the membership of a group.
"""

import logging
from hashlib import sha256
from typing import Any

import sqlalchemy
from sqlalchemy.exc import SQLAlchemyError

from tailrace.config.single_sign_on import SingleSignOn
from tailrace_sso.person import LoginError, Person

_log = logging.getLogger(__name__)
_tables = sqlalchemy.MetaData()
IDENTITIES = sqlalchemy.Table(
    "tailrace_identities",
    _tables,
    sqlalchemy.Column("identity", sqlalchemy.String(64), primary_key=True),
    sqlalchemy.Column("user_id", sqlalchemy.Integer, nullable=False, index=True),
    sqlalchemy.Column("username", sqlalchemy.String(64), nullable=False),
)
"""`identity` is the SHA-256 of provider and subject, in hexadecimal digits."""


class NoRoleError(LoginError):
    """The person is who they say, but none of their groups has a role."""

    def __init__(self, person: Person, wanted: list[str]) -> None:
        super().__init__(f"You are {person.name}, but none of your groups has a role in Tailrace.")
        self.person = person
        self.wanted = wanted
        """The groups that have a role."""


def create_table(engine: Any) -> None:
    """Creates the table if it is missing; another server may do the same at this moment."""
    try:
        _tables.create_all(engine, checkfirst=True)
    except SQLAlchemyError:
        if not sqlalchemy.inspect(engine).has_table(IDENTITIES.name):
            raise


def identity_of(person: Person) -> str:
    return sha256(f"{person.provider}\n{person.subject}".encode()).hexdigest()


class Accounts:
    """Users of Superset. `security` is its security manager, whose session commits."""

    def __init__(self, security: Any, settings: SingleSignOn) -> None:
        self._security = security
        self._settings = settings

    def enter(self, person: Person) -> Any:
        """Returns the person's user with its present roles. Raises LoginError without a role or a user."""
        roles = self._roles(person)
        user = self._user(person) or self._added(person, roles)
        if not user.is_active:
            raise LoginError("Your user is disabled in Superset. Ask its administrator.")
        self._give(user, roles)
        self._security.update_user_auth_stat(user)
        return user

    def renew(self, user: Any, person: Person) -> None:
        """Gives the user of a running session its present roles. Raises LoginError if there are none."""
        self._give(user, self._roles(person))

    def _roles(self, person: Person) -> list[Any]:
        names = self._settings.roles_of(person.groups)
        if not names:
            _log.warning("login of %r refused: no role for its groups %r", person.name, sorted(person.groups))
            raise NoRoleError(person, sorted(self._settings.roles))
        roles = [self._security.find_role(name) for name in names]
        if None in roles:
            missing = names[roles.index(None)]
            raise LoginError(f"Superset has no role {missing!r}. Run `tailrace dashboards apply`.")
        return roles

    def _give(self, user: Any, roles: list[Any]) -> None:
        """Replaces the roles, also those that an administrator gave: the groups decide."""
        if {role.id for role in user.roles} == {role.id for role in roles}:
            return
        _log.warning("user %r: roles are now %r", user.username, sorted(role.name for role in roles))
        user.roles = roles
        self._security.session.commit()

    def _user(self, person: Person) -> Any:
        """Returns the user of this person; None at the first login. Raises LoginError for a taken name."""
        row = self._row(IDENTITIES.c.identity == identity_of(person))
        user = self._security.get_user_by_id(row.user_id) if row else None
        if user is not None and user.username == row.username:
            return user
        if self._security.find_user(username=person.name):
            _log.warning("login of %r refused: another account has this name", person.name)
            raise LoginError(
                f"The name {person.name} belongs to another account of Superset. Ask its administrator."
            )
        if row:  # the administrator deleted or renamed the user
            self._execute(IDENTITIES.delete().where(IDENTITIES.c.identity == row.identity))
        return None

    def _added(self, person: Person, roles: list[Any]) -> Any:
        user = self._security.add_user(
            username=person.name,
            first_name=person.first_name or person.name,
            last_name=person.last_name,
            # Addresses are unique in Superset, and reports go to configured ones only.
            email=f"{identity_of(person)[:32]}@sso.invalid",
            role=roles,
        )
        if not user:
            raise LoginError("Superset could not create your user. Its log has the reason.")
        self._execute(
            IDENTITIES.insert().values(identity=identity_of(person), user_id=user.id, username=user.username)
        )
        return user

    def _row(self, condition: Any) -> Any:
        return self._security.session.execute(sqlalchemy.select(IDENTITIES).where(condition)).first()

    def _execute(self, statement: Any) -> None:
        self._security.session.execute(statement)
        self._security.session.commit()


def is_of_server(security: Any, user: Any) -> bool:
    """Returns whether the user belongs to a person of a server, and therefore has no local login."""
    condition = (IDENTITIES.c.user_id == user.id) & (IDENTITIES.c.username == user.username)
    found = security.session.execute(sqlalchemy.select(IDENTITIES.c.identity).where(condition))
    return found.first() is not None

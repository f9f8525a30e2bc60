"""Login to Superset with an OpenID provider or an LDAP directory, and the limits of every session.

superset_config.py calls `registration.register`. docs/SSO.md describes the settings,
docs/adr/0054 the design.

    person.py       a person as a server describes it, and the reasons to refuse one
    provider.py     OpenID Connect
    directory.py    LDAP
    accounts.py     the person's user of Superset with its roles
    sessions.py     the records of sessions: when one is checked again, and when it ends
    views.py        the pages
"""

"""The verbs of statements of MySQL and MariaDB, and what is odd about the verbs of a search.

An event may have another verb: audit logs also record statements that the server did not understand. A search
for one is therefore run, and the search reports it.
"""

import difflib

from tailrace.search.errors import CUTOFF
from tailrace.search.model import SearchQuery
from tailrace.search.request import comparisons

_WORDS = """
ADMIN ALTER ANALYZE BACKUP BEGIN BINLOG CACHE CALL CASE CHANGE CHECK CHECKSUM CLONE CLOSE COMMIT CREATE
DEALLOCATE DECLARE DELETE DESC DESCRIBE DO DROP END EXECUTE EXPLAIN FETCH FLUSH GET GRANT HANDLER HELP IF
IMPORT INSERT INSTALL ITERATE KILL LEAVE LOAD LOCK LOOP OPEN OPTIMIZE PREPARE PURGE RELEASE RENAME REPAIR
REPEAT REPLACE RESET RESIGNAL RESTART RETURN REVOKE ROLLBACK SAVEPOINT SELECT SET SHOW SHUTDOWN SIGNAL
SLAVE START STOP TABLE TRUNCATE UNINSTALL UNLOCK UPDATE USE VALUES WHILE WITH XA
"""
VERBS = frozenset(_WORDS.split())
"""First words of statements, also of those in stored programs; ADMIN stands for administrative commands."""


def notes(query: SearchQuery) -> list[str]:
    """Returns a sentence for each verb of the search with which no statement begins, with similar ones."""
    found = {
        value.text.upper(): None
        for each in comparisons(query.where)
        for value in each.values
        if each.field == "verb" and value.text.strip() and not value.is_pattern
    }
    return [_note(verb) for verb in found if verb not in VERBS]


def _note(verb: str) -> str:
    first, *more = verb.split()
    if more and first in VERBS:
        text = verb.lower().replace('"', "")
        return f'A verb is one word: verb:{first} "{text}" finds the statements with this text.'
    near = difflib.get_close_matches(verb, sorted(VERBS), n=2, cutoff=CUTOFF)
    hint = f"; did you mean {' or '.join(near)}?" if near else "."
    return f"No statement of MySQL or MariaDB begins with {verb}{hint}"

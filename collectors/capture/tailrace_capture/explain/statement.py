"""Selects the statements that may be explained: one SELECT that calls only functions known to be harmless.

EXPLAIN has side effects. The optimizer evaluates constant expressions, and so calls functions with constant
arguments, including stored ones. MySQL's manual warns that EXPLAIN of a statement with a derived table may
run it ("Optimizing Derived Tables": a stored function there may change data). MariaDB evaluates cheap
uncorrelated subqueries (expensive_subquery_limit). Servers before MySQL 5.6 and MariaDB 5.3 materialised
every derived table at EXPLAIN; they are not used at all. So only functions on an allowlist pass, and the
session is read-only.

The text is parsed as with an empty sql_mode, which the session also sets: backslashes escape, double quotes
quote strings.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

LONGEST = 1_000_000
"""Characters. Longer statements are not worth the server's time."""

_TOKEN = re.compile(
    r"""(?P<space>\s+|\#[^\n]*|--(?=[\s\x00-\x1f]|$)[^\n]*|/\*(?!!|M!|\+)(?s:.*?)\*/)
      | (?P<hint>/\*\+(?s:.*?)\*/)
      | (?P<code>/\*(?:M?!))
      | (?P<string>'(?:[^'\\]|\\(?s:.)|'')*'|"(?:[^"\\]|\\(?s:.)|"")*")
      | (?P<name>`(?:[^`]|``)*`)
      | (?P<word>[A-Za-z_\u0080-\U0010ffff$][\w$\u0080-\U0010ffff]*)
      | (?P<number>0x[0-9A-Fa-f]+|0b[01]+|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
      | (?P<assign>:=)
      | (?P<sign>[^\s'"`])
    """,
    re.VERBOSE | re.ASCII,
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words that write, lock or leave the statement; PROCEDURE ANALYSE; sequences.
_FORBIDDEN = _words("""
    INTO INSERT UPDATE DELETE REPLACE CALL LOCK SHARE OUTFILE DUMPFILE PROCEDURE HANDLER NEXT NEXTVAL
    SETVAL LASTVAL PREVIOUS ANALYZE EXECUTE PREPARE
""")
_NAMES_OF_FUNCTIONS_TOO = frozenset({"INSERT", "REPLACE"})

# Words before a parenthesis that are no function calls.
_KEYWORDS = _words("""
    SELECT FROM WHERE AND OR NOT XOR IN EXISTS ON JOIN USING HAVING BY AS ANY ALL SOME UNION EXCEPT
    INTERSECT CASE WHEN THEN ELSE BETWEEN LIKE REGEXP RLIKE DISTINCT OVER INDEX KEY PARTITION INTERVAL
    LIMIT OFFSET IS DIV MOD WITH RECURSIVE LATERAL VALUES ROW MATCH AGAINST BINARY CHAR VARCHAR DECIMAL
    NUMERIC DATETIME TIME TIMESTAMP NCHAR VARBINARY STRAIGHT_JOIN INNER OUTER LEFT RIGHT CROSS END ORDER
    GROUP TABLE SOUNDS COLLATE
""")

# Functions of MySQL 5.7 to 9 and MariaDB 10.4 to 11 that only read their arguments, at low cost.
_FUNCTIONS = _words("""
    ABS ACOS ADDDATE ADDTIME ASCII ASIN ATAN ATAN2 AVG BIN BIT_AND BIT_COUNT BIT_LENGTH BIT_OR BIT_XOR
    CAST CEIL CEILING CHAR_LENGTH CHARACTER_LENGTH CHARSET COALESCE COLLATION CONCAT CONCAT_WS CONV
    CONVERT CONVERT_TZ COS COT COUNT CRC32 CUME_DIST CURDATE CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP
    CURTIME DATE DATE_ADD DATE_FORMAT DATE_SUB DATEDIFF DAY DAYNAME DAYOFMONTH DAYOFWEEK DAYOFYEAR
    DEGREES DENSE_RANK ELT EXP EXPORT_SET EXTRACT FIELD FIND_IN_SET FIRST_VALUE FLOOR FORMAT FROM_DAYS
    FROM_UNIXTIME GET_FORMAT GREATEST GROUP_CONCAT GROUPING HEX HOUR IF IFNULL INET6_ATON INET6_NTOA
    INET_ATON INET_NTOA INSERT INSTR ISNULL JSON_ARRAY JSON_ARRAYAGG JSON_CONTAINS JSON_CONTAINS_PATH
    JSON_DEPTH JSON_EXTRACT JSON_KEYS JSON_LENGTH JSON_OBJECT JSON_OBJECTAGG JSON_OVERLAPS JSON_QUERY
    JSON_QUOTE JSON_SEARCH JSON_SET JSON_TABLE JSON_TYPE JSON_UNQUOTE JSON_VALID JSON_VALUE LAG LAST_DAY
    LAST_VALUE LCASE LEAD LEAST LEFT LENGTH LN LOCALTIME LOCALTIMESTAMP LOCATE LOG LOG10 LOG2 LOWER LPAD
    LTRIM MAKEDATE MAKETIME MAX MD5 MICROSECOND MID MIN MINUTE MOD MONTH MONTHNAME NOW NTH_VALUE NTILE
    NULLIF NVL NVL2 OCT OCTET_LENGTH ORD PERCENT_RANK PERIOD_ADD PERIOD_DIFF PI POSITION POW POWER
    QUARTER QUOTE RADIANS RAND RANK REGEXP_INSTR REGEXP_LIKE REGEXP_REPLACE REGEXP_SUBSTR REPLACE
    REVERSE RIGHT ROUND ROW_NUMBER RPAD RTRIM SEC_TO_TIME SECOND SHA SHA1 SHA2 SIGN SIN SOUNDEX SPACE
    SQRT STD STDDEV STDDEV_POP STDDEV_SAMP STR_TO_DATE STRCMP SUBDATE SUBSTR SUBSTRING SUBSTRING_INDEX
    SUBTIME SUM SYSDATE TAN TIME_FORMAT TIME_TO_SEC TIMEDIFF TIMESTAMPADD TIMESTAMPDIFF TO_DAYS
    TO_SECONDS TRIM TRUNCATE UCASE UNHEX UNIX_TIMESTAMP UPPER UTC_DATE UTC_TIME UTC_TIMESTAMP VAR_POP
    VAR_SAMP VARIANCE WEEK WEEKDAY WEEKOFYEAR WEIGHT_STRING YEAR YEARWEEK ST_X ST_Y ST_DISTANCE
    ST_CONTAINS ST_WITHIN ST_INTERSECTS ST_GEOMFROMTEXT POINT MBRCONTAINS UUID_TO_BIN BIN_TO_UUID
""")

_NEVER = {"code": "holds a comment that servers execute", "assign": "assigns a variable"}


@dataclass(frozen=True)
class Token:
    """A piece of a statement. `kind` is the group of _TOKEN that matched; words are in capitals."""

    kind: str
    text: str
    begin: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


_BEFORE_COLUMNS = (Token("word", "WITH"), Token("word", "RECURSIVE"))
"""Words that are reserved in all versions that have them: a parenthesis after them is no call."""


class UnreadableError(ValueError):
    """The text is truncated within a string or comment."""


def refusal(statement: str) -> str:
    """Returns the reason why a statement is not explained; empty if it is."""
    if len(statement) > LONGEST:
        return f"longer than {LONGEST} characters"
    try:
        tokens = list(_tokens(statement))
    except UnreadableError as error:
        return str(error)
    return _refusal(tokens)


def _tokens(statement: str) -> Iterator[Token]:
    position = 0
    while position < len(statement):
        found = _TOKEN.match(statement, position)
        if found is None or found.lastgroup is None:
            raise UnreadableError("cut off in the middle of a string")
        position = found.end()
        if found.lastgroup != "space":
            text = found.group()
            shown = text.upper() if found.lastgroup == "word" else text
            yield Token(found.lastgroup, shown, found.start(), found.end())


def _refusal(tokens: list[Token]) -> str:
    while tokens and tokens[-1] == Token("sign", ";"):
        tokens = tokens[:-1]
    first = next((token.text for token in tokens if token.text != "("), "")
    if first not in ("SELECT", "WITH"):
        return f"begins with {first[:20] or 'nothing'}: only SELECT is explained"
    nothing = Token("sign", "")
    if any(map(_is_name_of_digits, tokens, tokens[1:])):
        return "holds a name that begins with a digit"
    around = zip([nothing, *tokens], tokens, [*tokens[1:], nothing], strict=False)
    for before, token, after in around:
        if reason := _reason(before, token, after):
            return reason
    return "" if _is_balanced(tokens) else "its parentheses do not match: it may be cut off"


def _is_name_of_digits(token: Token, after: Token) -> bool:
    """Returns whether a server may read `1evil` as a name, and `1.0INTO` as a number and a word."""
    return token.kind == "number" and after.kind in ("word", "number") and after.begin == token.end


def _reason(before: Token, token: Token, after: Token) -> str:
    """Returns the reason why this token prevents an EXPLAIN; empty if it does not."""
    if token.kind in _NEVER:
        return _NEVER[token.kind]
    if token == Token("sign", ";"):
        return "holds more than one statement"
    if token.kind == "word" and token.text in _FORBIDDEN and before.text != ".":
        is_function = after.text == "(" and token.text in _NAMES_OF_FUNCTIONS_TOO
        if not is_function:
            return f"holds {token.text}"
    return _reason_of_call(before, token, after)


def _reason_of_call(before: Token, token: Token, after: Token) -> str:
    if after.text != "(" or token.kind not in ("word", "name", "string", "number"):
        return ""
    if before in _BEFORE_COLUMNS:
        return ""  # WITH t(n) AS (…: a result and its columns
    is_known = token.kind == "word" and before.text != "." and token.text in _FUNCTIONS | _KEYWORDS
    return "" if is_known else f"calls {token.text[:80]}, which may be a stored function"


def _is_balanced(tokens: list[Token]) -> bool:
    depth = 0
    for token in tokens:
        depth += {"(": 1, ")": -1}.get(token.text, 0) if token.kind == "sign" else 0
        if depth < 0:
            return False
    return depth == 0

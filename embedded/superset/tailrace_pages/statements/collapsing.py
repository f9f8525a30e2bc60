"""Removes from the tokens of a statement what its fingerprint does not contain: see docs/FINGERPRINT.md.

The work grows linearly with the number of tokens, however deeply parentheses are nested.
"""

from collections.abc import Sequence

from tailrace_pages.statements.tokens import Kind, Token

_LITERAL = Token(Kind.LITERAL, "?", True)
_LIST = Token(Kind.LIST, "?+", False)
_LITERALS = (Kind.LITERAL, Kind.LIST)
_BETWEEN_LITERALS = "(),+-"
_OF_PASSWORDS = ("by", "with", "as", "using", "password", "random")


def collapsed(tokens: Sequence[Token]) -> list[Token]:
    """Returns the tokens with lists, repeated rows and LIMIT as in a fingerprint.

    The tokens of a fingerprint stay the same.
    """
    if tokens and tokens[0].is_word("call"):
        return _name_of_call(tokens)
    kept = _Collapser(tokens).run()
    while kept and kept[-1].is_symbol(";"):
        kept.pop()
    return _without_repeated_unions(kept)


class _Collapser:
    """Goes through the tokens once. `_ends` has the place after the group of each opening parenthesis."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._ends = _ends_of_groups(tokens)
        self._jumps: dict[int, int] = {}
        """Places after a first row, with the place after the last one."""
        self._kept: list[Token] = []

    def run(self) -> list[Token]:
        place = 0
        while place < len(self._tokens):
            place = self._jumps.get(place) or self._step(place)
        return self._kept

    def _step(self, place: int) -> int:
        """Keeps one token or what replaces it and those after it; returns the place after them."""
        token = self._tokens[place]
        if token.is_word("asc"):
            return place + 1
        self._kept.append(token)
        if token.is_word("limit"):
            return self._limit(place + 1)
        if token.is_word("in"):
            return self._list(place + 1)
        if token.is_word("values", "value"):
            return self._rows(place + 1)
        if token.is_word("identified"):
            return self._password(place + 1)
        return place + 1

    def _limit(self, place: int) -> int:
        first, between, second = ([*self._tokens[place : place + 3]] + [None] * 3)[:3]
        if not first or first.kind is not Kind.LITERAL:
            return place
        self._kept.append(_LITERAL)
        has_two = between and (between.is_symbol(",") or between.is_word("offset"))
        return place + (3 if has_two and second and second.kind is Kind.LITERAL else 1)

    def _list(self, place: int) -> int:
        end = self._ends.get(place, place)
        if end > place and self._holds_literals_only(place, end):
            self._kept += [self._tokens[place], _LIST, self._tokens[end - 1]]
            return end
        return place

    def _rows(self, place: int) -> int:
        """Keeps the first of several rows, or `(?+)` if all rows contain only literals."""
        start = self._start_of_row(place)
        if start not in self._ends:
            return place
        first = end = self._ends[start]
        while end < len(self._tokens) and self._tokens[end].is_symbol(","):
            following = self._start_of_row(end + 1)
            if following not in self._ends:
                break
            end = self._ends[following]
        if start == place and self._holds_literals_only(place, end):
            self._kept += [self._tokens[place], _LIST, self._tokens[first - 1]]
            return end
        if end > first:
            self._jumps[first] = end
        return place

    def _start_of_row(self, place: int) -> int:
        """Returns the place of the parenthesis of `(…)` or `ROW (…)`."""
        return place + (place < len(self._tokens) and self._tokens[place].is_word("row"))

    def _password(self, place: int) -> int:
        """Replaces `BY 'pw'`, `WITH plugin AS 'hash'` by one literal, as fingerprints do."""
        end = place
        while end < len(self._tokens) and self._is_of_password(place, end):
            end += 1
        if end > place:
            self._kept.append(_LITERAL)
        return end

    def _is_of_password(self, place: int, end: int) -> bool:
        token = self._tokens[end]
        is_plugin = end > place and self._tokens[end - 1].is_word("with")
        return token.is_word(*_OF_PASSWORDS) or token.kind is Kind.LITERAL or is_plugin

    def _holds_literals_only(self, start: int, end: int) -> bool:
        """Returns whether there is a literal, and nothing else but parentheses, commas and signs."""
        found = False
        for place in range(start, end):
            token = self._tokens[place]
            if token.kind in _LITERALS:
                found = True
            elif token.kind is not Kind.SYMBOL or token.text not in _BETWEEN_LITERALS:
                return False
        return found


def _ends_of_groups(tokens: Sequence[Token]) -> dict[int, int]:
    waiting: list[int] = []
    ends = {}
    for place, token in enumerate(tokens):
        if token.is_symbol("("):
            waiting.append(place)
        elif token.is_symbol(")") and waiting:
            ends[waiting.pop()] = place + 1
    return ends


def _name_of_call(tokens: Sequence[Token]) -> list[Token]:
    end = next((place for place, token in enumerate(tokens) if token.is_symbol("(")), len(tokens))
    return [token for token in tokens[:end] if not token.is_symbol(";")]


def _without_repeated_unions(tokens: list[Token]) -> list[Token]:
    """Replaces SELECTs that repeat the one before their UNION by the mark of fingerprints."""
    kept: list[Token] = []
    before: list[tuple[Kind, str]] = []
    """What kept ends with, without the mark."""
    for union, select in _parts_of_union(tokens):
        content = [(token.kind, _content(token)) for token in select]
        if union and content and before[-len(content) :] == content:
            mark = Token(Kind.SYMBOL, f"/*repeat {' '.join(token.text for token in union)}*/", True)
            kept += [] if kept[-1] == mark else [mark]
        else:
            kept += [*union, *select]
            before = content
    return kept


def _parts_of_union(tokens: list[Token]) -> list[tuple[list[Token], list[Token]]]:
    """Returns each SELECT after the words of its UNION; the first one has none."""
    places = [place for place, token in enumerate(tokens) if token.is_word("union")]
    parts: list[tuple[list[Token], list[Token]]] = []
    for start, end in zip([0, *places], [*places, len(tokens)], strict=True):
        words = 0
        while start + words < end and tokens[start + words].is_word("union", "all", "distinct"):
            words += 1
        parts.append((tokens[start : start + words], tokens[start + words : end]))
    return parts


def _content(token: Token) -> str:
    return "?" if token.kind is Kind.LITERAL else token.text

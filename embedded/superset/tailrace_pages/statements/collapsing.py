"""Removes from the tokens of a statement what its fingerprint does not contain: see docs/FINGERPRINT.md."""

from tailrace_pages.statements.tokens import Kind, Token

_LITERAL = Token(Kind.LITERAL, "?", True)
_LIST = Token(Kind.LIST, "?+", False)
_OF_PASSWORDS = ("by", "with", "as", "using", "password", "random")


def collapsed(tokens: list[Token]) -> list[Token]:
    """Returns the tokens with lists, repeated rows and LIMIT as in a fingerprint. Does not change a
    fingerprint."""
    if tokens and tokens[0].is_word("call"):
        return _name_of_call(tokens)
    kept: list[Token] = []
    place = 0
    while place < len(tokens):
        place = _step(tokens, place, kept)
    while kept and kept[-1].is_symbol(";"):
        kept.pop()
    return _without_repeated_unions(kept)


def _step(tokens: list[Token], place: int, kept: list[Token]) -> int:
    """Appends one token or what replaces it and those after it; returns the place after them."""
    token = tokens[place]
    place += 1
    if token.is_word("asc"):
        return place
    kept.append(token)
    if token.is_word("limit"):
        return _limit(tokens, place, kept)
    if token.is_word("in"):
        return _list(tokens, place, kept)
    if token.is_word("values", "value"):
        return _rows(tokens, place, kept)
    if token.is_word("identified"):
        return _password(tokens, place, kept)
    return place


def _limit(tokens: list[Token], place: int, kept: list[Token]) -> int:
    first, between, second = (tokens[place : place + 3] + [None] * 3)[:3]
    if first and first.kind is Kind.LITERAL:
        kept.append(_LITERAL)
        has_two = between and (between.is_symbol(",") or between.is_word("offset"))
        return place + (3 if has_two and second and second.kind is Kind.LITERAL else 1)
    return place


def _list(tokens: list[Token], place: int, kept: list[Token]) -> int:
    end = _end_of_group(tokens, place)
    if end > place and _holds_literals_only(tokens[place:end]):
        kept += [tokens[place], _LIST, tokens[end - 1]]
        return end
    return place


def _rows(tokens: list[Token], place: int, kept: list[Token]) -> int:
    """Keeps the first of several rows, or `(?+)` if all rows contain only literals."""
    is_row = place < len(tokens) and tokens[place].is_word("row")
    start = place + is_row
    first = end = _end_of_group(tokens, start)
    if first == start:
        return place
    while end < len(tokens) and tokens[end].is_symbol(","):
        next_row = end + 1 + (end + 1 < len(tokens) and tokens[end + 1].is_word("row"))
        if (after := _end_of_group(tokens, next_row)) == next_row:
            break
        end = after
    if not is_row and _holds_literals_only(tokens[place:end]):
        kept += [tokens[place], _LIST, tokens[first - 1]]
    else:
        kept += collapsed(tokens[place:first])
    return end


def _end_of_group(tokens: list[Token], place: int) -> int:
    """Returns the place after the parenthesis that closes the one at `place`, or `place` if there is none."""
    depth = 0
    for number in range(place, len(tokens)):
        depth += tokens[number].is_symbol("(") - tokens[number].is_symbol(")")
        if depth == 0:
            return number + 1 if number > place else place
    return place


def _holds_literals_only(tokens: list[Token]) -> bool:
    """Returns whether there is a literal, and nothing else but parentheses and commas."""
    literals = [token for token in tokens if token.kind in (Kind.LITERAL, Kind.LIST)]
    others = [token for token in tokens if token.kind not in (Kind.LITERAL, Kind.LIST)]
    return bool(literals) and all(token.kind is Kind.SYMBOL and token.text in "(),+-" for token in others)


def _password(tokens: list[Token], place: int, kept: list[Token]) -> int:
    """Replaces `BY 'pw'`, `WITH plugin AS 'hash'` by one literal, as fingerprints do."""
    end = place
    while end < len(tokens) and (
        tokens[end].is_word(*_OF_PASSWORDS)
        or tokens[end].kind is Kind.LITERAL
        or (end > place and tokens[end - 1].is_word("with"))
    ):
        end += 1
    if end > place:
        kept.append(_LITERAL)
    return end


def _name_of_call(tokens: list[Token]) -> list[Token]:
    end = next((place for place, token in enumerate(tokens) if token.is_symbol("(")), len(tokens))
    return [token for token in tokens[:end] if not token.is_symbol(";")]


def _without_repeated_unions(tokens: list[Token]) -> list[Token]:
    """Removes SELECTs that repeat the one before their UNION: `select a /*repeat union*/` in a
    fingerprint."""
    kept: list[Token] = []
    for part in _parts_of_union(tokens):
        select = (
            part[1 + part[1].is_word("all", "distinct") :] if part[0].is_word("union") and part[1:] else part
        )
        if not (kept and select is not part and _ends_with(kept, select)):
            kept += part
    return kept


def _parts_of_union(tokens: list[Token]) -> list[list[Token]]:
    starts = [0, *(place for place, token in enumerate(tokens) if token.is_word("union"))]
    return [
        tokens[start:end]
        for start, end in zip(starts, [*starts[1:], len(tokens)], strict=True)
        if start < end
    ]


def _ends_with(tokens: list[Token], end: list[Token]) -> bool:
    last = [(token.kind, _content(token)) for token in tokens[-len(end) :]]
    return bool(end) and last == [(token.kind, _content(token)) for token in end]


def _content(token: Token) -> str:
    return "?" if token.kind is Kind.LITERAL else token.text

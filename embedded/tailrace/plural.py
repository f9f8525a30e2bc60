"""Counts with their nouns, as people write them."""


def counted(number: int, one: str, many: str = "") -> str:
    """Formats a number with its noun and verb: `1 row`, `2 rows`; `1 row was`, `1,234 rows were`.

    `many` is the text for all numbers except 1; without it, `one` with an s.
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"

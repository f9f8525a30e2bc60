"""Takes a long text out of the XML of an answer, without the parser: for a portion of a log of 1 MB the
parser takes more time than everything else.

The text is the one that the parser gives. An answer in which that is not certain is left to the parser.
"""

import re
from typing import Any

CHARACTERS = {
    b"lt;": b"<",
    b"gt;": b">",
    b"amp;": b"&",
    b"quot;": b'"',
    b"apos;": b"'",
    b"#34;": b'"',
    b"#39;": b"'",
    b"#9;": b"\t",
    b"#10;": b"\n",
    b"#13;": b"\r",
    b"#x9;": b"\t",
    b"#xA;": b"\n",
    b"#xD;": b"\r",
}
"""What the references mean that services write. With any other one the parser decides."""
REFERENCE = re.compile(rb"&([^&;]*;?)")


def with_bytes(client: Any, operation: str, member: str) -> Any:
    """Returns the client of boto3, which gives this member of successful answers as bytes in UTF-8 if it can,
    and as text if not."""

    def take(response_dict: dict, customized_response_dict: dict, **_: object) -> None:
        if response_dict["status_code"] == 200 and (found := _taken(response_dict["body"], member)):
            response_dict["body"], customized_response_dict[member] = found

    service = client.meta.service_model.service_id.hyphenize()
    client.meta.events.register(f"before-parse.{service}.{operation}", take, f"bytes-{operation}")
    return client


def _taken(body: bytes, member: str) -> tuple[bytes, bytes] | None:
    """Returns the body without the text of the element, and its text; None if the parser must decide."""
    start_tag, end_tag = f"<{member}>".encode(), f"</{member}>".encode()
    head, is_there, rest = body.partition(start_tag)
    end = rest.rfind(end_tag)
    if not is_there or end < 0:
        return None
    text = rest[:end]
    if b"<" in text or not (_is_utf8(head) and _is_utf8(text)):  # CDATA, a second element, not UTF-8
        return None
    plain = _unescaped(text)
    return None if plain is None else (head + start_tag + rest[end:], plain)


def _is_utf8(part: bytes) -> bool:
    try:
        return part.isascii() or bool(part.decode())
    except UnicodeDecodeError:
        return False


def _unescaped(text: bytes) -> bytes | None:
    """Returns the text without references; None if it has an unknown one, or an end of line that a parser
    would change."""
    if b"\r" in text:
        return None
    if b"&" not in text:
        return text
    parts = REFERENCE.split(text)  # texts and names in turn; a loop over the names takes twice as long
    try:
        parts[1::2] = map(CHARACTERS.__getitem__, parts[1::2])
    except KeyError:
        return None
    return b"".join(parts)

"""JSON of services has the values that the standard library reads."""

import json

import pytest

from tailrace_pull import json_text


@pytest.mark.parametrize(
    "text",
    [
        b'{"textPayload": "SELECT \\u00e4\\n", "n": [1, -0, 1.5, 1e3, null, true]}',
        b"123456789012345678901234567890",
        b'{"a": 1, "a": 2}',
        b'"\\ud83d\\ude00"',
        b'"\\ud800"',
        b"\xef\xbb\xbf{}",
        b"[Infinity, 1e400]",
        '"é"',
    ],
)
def test_a_value_is_that_of_the_standard_library(text):
    expected = json.loads(text)
    found = json_text.loads(text)
    assert found == expected
    assert repr(found) == repr(expected)  # 1 and 1.0 are equal


@pytest.mark.parametrize("text", [b"", b"{", b'{"a": 1}{"a": 2}', b'"\xff"', b"[" * 100_000, b'"a\nb"'])
def test_what_is_no_json_is_an_error(text):
    with pytest.raises((ValueError, RecursionError)):
        json_text.loads(text)

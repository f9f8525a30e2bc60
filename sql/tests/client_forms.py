"""The forms in which rows contain a client."""

CLIENTS = [
    ({"host": "10.0.3.9", "ip": ""}, "10.0.3.9", ""),
    ({"host": "web1", "ip": "10.0.3.9"}, "10.0.3.9", "web1"),
    ({"host": "", "ip": "10.0.3.9"}, "10.0.3.9", ""),
    ({"host": "10.0.3.9", "ip": "10.0.3.9"}, "10.0.3.9", ""),
    ({"host": "::ffff:10.0.3.9", "ip": ""}, "10.0.3.9", ""),
    ({"host": "", "ip": "::FFFF:10.0.3.9"}, "10.0.3.9", ""),
    ({"host": "2001:DB8:0:0::7", "ip": ""}, "2001:db8::7", ""),
    ({"host": "web1", "ip": ""}, "", "web1"),
    ({"host": "localhost", "ip": ""}, "", "localhost"),
    ({"host": "", "ip": ""}, "", ""),
]
"""Possible contents of rows, including those of former versions: client address and host name."""

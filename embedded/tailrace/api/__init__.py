"""The REST API: versioned resources as JSON, for programs with a token (docs/REST.md).

tokens.py       tokens: owner, role, scopes, expiry; stored as SHA-256
accounts.py     the users of ClickHouse that requests use: the reader of the token's role, and few others
access.py       who sends a request, and whether the token permits it
rate_limits.py  requests per minute of a token or a client
cursors.py      the place in a list, signed
recording.py    one row per request, before the response is sent
problems.py     errors as RFC 9457 problem details
application.py  the application of all routes, and its OpenAPI document
routes/         resources, one module each
mcp/            the MCP server: tools that call the operations (docs/MCP.md)

tokens.py and accounts.py need no web framework, so the command line imports them only.
"""

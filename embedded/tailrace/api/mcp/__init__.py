"""The MCP server: tools with which language models read, as the role of a token (docs/MCP.md).

results.py    capped data with provenance; stored texts only under `untrusted_text`
arguments.py  the arguments of the tools, and their JSON schemas
tools.py      the tools: each calls the operation of the REST API, and needs its scope
protocol.py   messages of JSON-RPC and their answers
endpoint.py   the route `POST /mcp`
"""

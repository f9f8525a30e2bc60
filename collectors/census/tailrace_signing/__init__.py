"""Signs byte ranges of log files with the key of their host, for the census and for collectors/pull.

Like the census it runs on Python 3.9; only `keys` needs a library, `cryptography`. The contract is
schemas/contracts/signed_range.json.
"""

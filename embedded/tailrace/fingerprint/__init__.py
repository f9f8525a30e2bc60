"""The client of the fingerprint service, which computes fingerprints and query ids for the dashboards.

The service is io.tailrace.cli.service.FingerprintServer of stream-jobs/cli: there is one lexer, and it is
written in Java. `client` uses the standard library only, because Superset's process imports it.
"""

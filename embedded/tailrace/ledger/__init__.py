"""The ledger: balance, coverage, and logs of unknown completeness."""

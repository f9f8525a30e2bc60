"""The program that repairs gaps: `python -m tailrace.repair`."""

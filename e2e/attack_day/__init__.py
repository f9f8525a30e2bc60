"""Simulates days of ordinary work and attacks on a real MariaDB, and evaluates detection on its logs."""

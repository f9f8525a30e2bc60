"""Diagnoses what prevents Tailrace from reading a server, and prints a fix for each problem as an SQL
statement or a line of configuration."""

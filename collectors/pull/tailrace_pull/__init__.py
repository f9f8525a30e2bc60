"""Pulls the logs of managed servers and writes their lines to Kafka, as Fluent Bit and the census do for
files."""

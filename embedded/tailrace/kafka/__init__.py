"""Kafka: clients, accounts and topics."""

"""Many servers with little traffic each: their records in Kafka, and what they cost the stack."""

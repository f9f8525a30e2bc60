"""A service that keeps logs, for the puller: made from the service models of botocore."""

"""Services and servers from which the puller reads logs in tests: fakes, and real ones."""

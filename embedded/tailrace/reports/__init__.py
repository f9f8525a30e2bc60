"""Reports by mail, which Superset renders and sends."""

"""Reports by mail, which Superset draws and sends."""

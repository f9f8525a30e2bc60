"""A witness of transparency logs: C2SP tlog-witness and tlog-cosignature."""

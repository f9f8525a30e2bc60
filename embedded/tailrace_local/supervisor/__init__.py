"""The supervisor: what a part is, how parts are installed, started, watched and stopped."""

"""What prevents this installation from reading a log."""

"""The command line `tailrace`."""

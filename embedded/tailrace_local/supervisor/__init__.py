"""The supervisor: what a component is, how components are installed, started, watched and stopped."""

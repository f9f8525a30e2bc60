"""Options of every JVM of the one-machine stack that keeps running."""

NO_COUNTERS = "-XX:-UsePerfData"
"""Without it a thread of the JVM wakes up 20 times a second to update counters for `jps` and `jstat`."""

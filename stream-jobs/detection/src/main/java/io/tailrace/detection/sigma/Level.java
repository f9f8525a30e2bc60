package io.tailrace.detection.sigma;

/** The severity of a match, with the names of Sigma. */
public enum Level {
    INFORMATIONAL,
    LOW,
    MEDIUM,
    HIGH,
    CRITICAL
}

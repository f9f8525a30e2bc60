package io.tailrace.detection.sigma;

/** How bad a match is, as Sigma names it. */
public enum Level {
    INFORMATIONAL,
    LOW,
    MEDIUM,
    HIGH,
    CRITICAL
}

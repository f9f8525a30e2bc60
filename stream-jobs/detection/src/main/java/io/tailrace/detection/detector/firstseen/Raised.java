package io.tailrace.detection.detector.firstseen;

/** When an alert of {@link FirstSeenDetector} has the level medium, whatever its values are. */
public enum Raised {
    NEVER,
    /** Hours of the day at which the entity was never active. */
    AWAY,
    /**
     * The first value of an entity that had none, the first stored program of one that defined nothing, and hours of the
     * day at which it was never active.
     */
    FIRST
}

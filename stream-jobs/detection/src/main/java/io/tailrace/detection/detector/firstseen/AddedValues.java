package io.tailrace.detection.detector.firstseen;

/** Values that states of older versions do not contain, so that they are learned after an upgrade and not reported. */
final class AddedValues {

    /** Follows a known value at an hour of the day at which its entity was never active. */
    static final String UNUSUAL_HOUR = " at an unusual hour";

    private AddedValues() {}

    static boolean contain(String value) {
        return value.equals(ReadColumns.DATA)
                || value.endsWith(ReadColumns.MANY_ROWS)
                || value.equals(ChangedColumns.COPIED_TABLES)
                || value.equals(ChangedColumns.DROPPED_TABLES)
                || value.endsWith(ChangedColumns.BY_STORED_PROGRAMS);
    }
}

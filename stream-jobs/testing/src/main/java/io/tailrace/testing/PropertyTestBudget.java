package io.tailrace.testing;

/** Determines the number of cases of a property test: few on every change, many in {@code make test-long}. */
public final class PropertyTestBudget {

    /** System property, which Maven's profile {@code long} sets to {@code many}. */
    private static final String PROPERTY = "tailrace.cases";

    private PropertyTestBudget() {}

    /** Returns the number of cases. The few cases are the first of the many, so a case has the same number in both. */
    public static int of(int few, int many) {
        return "many".equals(System.getProperty(PROPERTY)) ? many : few;
    }
}

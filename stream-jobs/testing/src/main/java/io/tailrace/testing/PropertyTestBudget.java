package io.tailrace.testing;

/** How many cases a property test tries: few on every change, many in {@code make test-long}. */
public final class PropertyTestBudget {

    /** System property; Maven's profile {@code long} sets it to {@code many}. */
    private static final String PROPERTY = "tailrace.cases";

    private PropertyTestBudget() {}

    /** The cases of few are the first of many: a failure found by many has its number. */
    public static int of(int few, int many) {
        return "many".equals(System.getProperty(PROPERTY)) ? many : few;
    }
}

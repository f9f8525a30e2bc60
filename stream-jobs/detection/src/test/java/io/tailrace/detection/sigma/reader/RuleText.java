package io.tailrace.detection.sigma.reader;

/** Creates rules, so that a test contains only the relevant part. */
public final class RuleText {

    private RuleText() {}

    /** Returns a rule with this detection, whose lines are indented by two more. */
    public static String rule(String detection) {
        return "title: t\nlogsource:\n  category: database\ndetection:\n" + detection.indent(2);
    }

    /** Returns a rule with one search and a name. */
    public static String named(String name, String search) {
        return "title: " + name + "\nname: " + name + "\nlogsource:\n  category: database\ndetection:\n  selection:\n"
                + search.indent(4) + "  condition: selection\n---\n";
    }

    /** Returns a correlation. */
    public static String correlation(String name, String body) {
        return "title: " + name + "\nname: " + name + "\ncorrelation:\n" + body.indent(2) + "---\n";
    }
}

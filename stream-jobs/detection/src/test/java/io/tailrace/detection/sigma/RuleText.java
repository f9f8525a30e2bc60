package io.tailrace.detection.sigma;

/** Rules of which a test writes only what it is about. */
public final class RuleText {

    private RuleText() {}

    /** A rule with this detection, whose lines are indented by two more. */
    public static String rule(String detection) {
        return "title: t\nlogsource:\n  category: database\ndetection:\n" + detection.indent(2);
    }

    /** A rule with one search and a name. */
    public static String named(String name, String search) {
        return "title: " + name + "\nname: " + name + "\nlogsource:\n  category: database\ndetection:\n  selection:\n"
                + search.indent(4) + "  condition: selection\n---\n";
    }

    /** A correlation. */
    public static String correlation(String name, String body) {
        return "title: " + name + "\nname: " + name + "\ncorrelation:\n" + body.indent(2) + "---\n";
    }
}

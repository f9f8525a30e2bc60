package io.tailrace.digest;

import java.util.List;
import java.util.stream.Collectors;

/** What {@link LogFacts} say, in sentences. */
final class Facts {

    private Facts() {}

    /** From which duration on statements seem to be logged. */
    static String threshold(Group all) {
        double fastest = all.queryTime.smallest();
        double threshold = LogFacts.threshold(fastest);
        String evidence = "the fastest logged took " + Figures.seconds(fastest);
        if (threshold == 0) {
            return "none: " + evidence + ", so all statements seem to be logged";
        }
        String examined = all.rowsExamined.smallest() < 2
                ? ""
                : ", and none examined fewer than " + Figures.whole(all.rowsExamined.smallest()) + " rows";
        return threshold < 0
                ? evidence + examined
                : "long_query_time seems to be " + Figures.seconds(threshold) + ": " + evidence + examined;
    }

    /** Of how many statements one was logged. */
    static String sampling(Digest digest) {
        List<Double> limits = digest.facts().rateLimits();
        String limit = limits.stream().map(Figures::whole).collect(Collectors.joining(" to "));
        List<String> types = digest.facts().rateTypes();
        String of = types.isEmpty() ? "statements" : types.get(0).equals("session") ? "sessions" : "statements";
        return "1 of " + limit + " " + of + " (log_slow_rate_limit): " + Figures.whole(digest.entries())
                + " entries stand for " + Figures.whole(digest.whole().count()) + " statements, weighted below";
    }
}

package io.tailrace.cli;

import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** What the heaviest class is the heaviest in. */
enum Ranking {
    TOTAL(statistics -> statistics.queryTime.sum()),
    COUNT(statistics -> statistics.queryTime.weight()),
    AVERAGE(statistics -> statistics.queryTime.average()),
    P95(statistics -> statistics.queryTime.quantile(0.95)),
    P99(statistics -> statistics.queryTime.quantile(0.99)),
    MAX(statistics -> statistics.queryTime.largest()),
    LOCK(statistics -> statistics.lockTime.sum()),
    ROWS_EXAMINED(statistics -> statistics.rowsExamined.sum()),
    ROWS_SENT(statistics -> statistics.rowsSent.sum());

    private final ToDoubleFunction<ClassStatistics> measure;

    Ranking(ToDoubleFunction<ClassStatistics> measure) {
        this.measure = measure;
    }

    double of(ClassStatistics statistics) {
        return measure.applyAsDouble(statistics);
    }

    /** As it is written on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}

package io.tailrace.generallog;

import io.tailrace.framing.EntryFramer;
import io.tailrace.framing.EntryParser;
import io.tailrace.framing.LogFormat;

/** The general query log of MySQL, Percona Server and MariaDB. */
public final class GeneralLogFormat implements LogFormat {

    public static final String NAME = "mysql-general";

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public EntryFramer newFramer() {
        return new GeneralLogFramer();
    }

    @Override
    public EntryFramer restoreFramer(byte[] snapshot) {
        return GeneralLogFramer.restore(snapshot);
    }

    @Override
    public EntryParser newParser() {
        return new GeneralLogParser();
    }

    /** Returns whether the line, without its line end, can only occur in a general log. */
    public static boolean classifies(byte[] bytes, int from, int to) {
        return new GeneralLine().read(bytes, from, to);
    }

    /**
     * Returns whether the line is a banner. The slow log has the same banner, so it identifies no format if the
     * source is unknown.
     */
    public static boolean isBanner(byte[] bytes, int from, int to) {
        return GeneralLine.isBanner(bytes, from, to);
    }
}

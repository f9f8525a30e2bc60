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

    /** No other format holds a line like this one, without its line end. */
    public static boolean classifies(byte[] bytes, int from, int to) {
        return new GeneralLine().read(bytes, from, to);
    }

    /** The slow log's banner is the same, so it tells nothing where the kind of log is unknown. */
    public static boolean isBanner(byte[] bytes, int from, int to) {
        return GeneralLine.isBanner(bytes, from, to);
    }
}

package io.tailrace.slowlog;

import io.tailrace.framing.EntryDetail;
import io.tailrace.framing.EntryFramer;
import io.tailrace.framing.EntryParser;
import io.tailrace.framing.LogFormat;

/** The slow query log of MySQL, Percona Server and MariaDB. */
public final class SlowLogFormat implements LogFormat {

    public static final String NAME = "mysql-slow";

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public EntryFramer newFramer() {
        return new SlowLogFramer();
    }

    @Override
    public EntryFramer restoreFramer(byte[] snapshot) {
        return SlowLogFramer.restore(snapshot);
    }

    @Override
    public EntryParser newParser() {
        return newParser(EntryDetail.FULL);
    }

    @Override
    public EntryParser newParser(EntryDetail detail) {
        return new SlowLogParser(detail);
    }
}

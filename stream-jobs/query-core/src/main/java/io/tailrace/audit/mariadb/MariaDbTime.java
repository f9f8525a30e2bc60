package io.tailrace.audit.mariadb;

import io.tailrace.audit.record.AuditFormatNames;
import io.tailrace.audit.syslog.SyslogLine;
import io.tailrace.lexer.ByteText;
import io.tailrace.time.CivilTime;
import io.tailrace.time.LocalClock;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;

/** Parses the time before a server_audit record. Not thread-safe. */
public interface MariaDbTime {

    /** Parses the time and returns the index of the record after it, or -1 if there is no time. */
    int read(byte[] bytes, int from, int to, String zone);

    /** Returns the epoch microseconds of the latest time. */
    long micros();

    /** Returns the name of the format. */
    String format();

    /** Returns a description of what {@link #read} expects, for messages. */
    String shape();

    /** Returns whether long lines are cut without a closing quote. */
    default boolean cutsLines() {
        return false;
    }

    /** Returns whether the plugin cuts statements near its server_audit_query_log_limit. */
    default boolean limitsStatements() {
        return true;
    }

    default boolean isYearInferred() {
        return false;
    }

    /** {@code 20261121 02:44:18,}. */
    final class Local implements MariaDbTime {

        private static final int LENGTH = "20261121 02:44:18".length();

        private final LocalClock clock = new LocalClock();
        private long micros;

        @Override
        public int read(byte[] bytes, int from, int to, String zone) {
            long local = seconds(bytes, from, to);
            if (local == CivilTime.NONE || from + LENGTH >= to || bytes[from + LENGTH] != ',') {
                return -1;
            }
            micros = clock.utc(zone, local, 0) * 1_000_000;
            return from + LENGTH + 1;
        }

        private static long seconds(byte[] bytes, int from, int to) {
            if (to - from < LENGTH || bytes[from + 8] != ' ' || bytes[from + 11] != ':' || bytes[from + 14] != ':') {
                return CivilTime.NONE;
            }
            return CivilTime.epochSecond(
                    CivilTime.number(bytes, from, 4), CivilTime.number(bytes, from + 4, 2),
                    CivilTime.number(bytes, from + 6, 2), CivilTime.number(bytes, from + 9, 2),
                    CivilTime.number(bytes, from + 12, 2), CivilTime.number(bytes, from + 15, 2));
        }

        @Override
        public long micros() {
            return micros;
        }

        @Override
        public String format() {
            return AuditFormatNames.MARIADB;
        }

        @Override
        public String shape() {
            return "YYYYMMDD HH:MM:SS";
        }
    }

    /** {@code 1767323046000123,}: microseconds since 1970. */
    final class Micros implements MariaDbTime {

        private static final int DIGITS = 16;

        private long micros;

        @Override
        public int read(byte[] bytes, int from, int to, String zone) {
            int end = from + DIGITS;
            if (end >= to || bytes[end] != ',') {
                return -1;
            }
            micros = ByteText.unsigned(bytes, from, end);
            return micros < 0 ? -1 : end + 1;
        }

        @Override
        public long micros() {
            return micros;
        }

        @Override
        public String format() {
            return AuditFormatNames.AURORA;
        }

        @Override
        public String shape() {
            return "16 digits";
        }

        @Override
        public boolean cutsLines() {
            return true;
        }

        @Override
        public boolean limitsStatements() {
            return false;
        }
    }

    /**
     * The time of a system log. The old form has no year. The latest year is assumed in which the time is not in the
     * future, with a tolerance of one day for clocks and zones.
     */
    final class Syslog implements MariaDbTime {

        private static final long TOLERANCE_SECONDS = 86_400;

        private final InstantSource now;
        private final SyslogLine line = new SyslogLine();
        private final LocalClock clock = new LocalClock();
        private long micros;
        private boolean inferred;

        public Syslog(InstantSource now) {
            this.now = now;
        }

        @Override
        public int read(byte[] bytes, int from, int to, String zone) {
            if (!line.read(bytes, from, to)) {
                return -1;
            }
            inferred = line.month > 0;
            micros = inferred ? inferred(zone) : line.micros;
            return micros == CivilTime.NONE ? -1 : ByteText.skipBlanks(bytes, line.messageFrom(), to);
        }

        private long inferred(String zone) {
            Instant latest = now.instant().plusSeconds(TOLERANCE_SECONDS);
            int year = latest.atOffset(ZoneOffset.UTC).getYear();
            for (int tries = 0; tries < 9; tries++) {
                long local =
                        CivilTime.epochSecond(year - tries, line.month, line.day, line.hour, line.minute, line.second);
                long utc = local == CivilTime.NONE ? Long.MAX_VALUE : clock.utc(zone, local, 0);
                if (utc <= latest.getEpochSecond()) {
                    return utc * 1_000_000;
                }
            }
            return CivilTime.NONE;
        }

        @Override
        public long micros() {
            return micros;
        }

        @Override
        public String format() {
            return AuditFormatNames.MARIADB_SYSLOG;
        }

        @Override
        public String shape() {
            return "a system log's time, host and tag";
        }

        @Override
        public boolean cutsLines() {
            return true;
        }

        @Override
        public boolean isYearInferred() {
            return inferred;
        }
    }
}

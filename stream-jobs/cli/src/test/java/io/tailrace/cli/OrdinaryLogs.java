package io.tailrace.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tailrace.cli.OrdinaryTool.Session;
import io.tailrace.cli.OrdinaryTool.Statement;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;

/** Generates logs of ordinary tools for some days, one server per format. The same seed generates the same logs. */
final class OrdinaryLogs {

    /** Of a thinned day, every so many of the repetitions of a session are written. */
    private static final int THINNED = 6;

    /** A Monday. */
    private static final Instant START = Instant.parse("2026-09-07T00:00:00Z");

    private static final int DAY = 86_400;
    private static final int OFFICE_FROM = 8 * 3600;
    private static final int OFFICE_TO = 17 * 3600;
    private static final List<String> WORDS = List.of("blue", "anna", "O'Brien", "graz", "a\\b", "x;y", "50%");
    private static final DateTimeFormatter CSV =
            DateTimeFormatter.ofPattern("yyyyMMdd HH:mm:ss", Locale.ROOT).withZone(ZoneOffset.UTC);
    private static final DateTimeFormatter SECONDS =
            DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss", Locale.ROOT).withZone(ZoneOffset.UTC);

    private final ObjectMapper json = new ObjectMapper();
    private final Random random = new Random(7);
    private final Map<String, List<Entry>> logs = new TreeMap<>();
    private final int completeDays;
    private int connection = 100;
    private int number;

    private record Entry(Instant time, int number, String text) {}

    private OrdinaryLogs(int completeDays) {
        this.completeDays = completeDays;
    }

    /**
     * Returns the logs by their formats: csv, general, json, xml, slow. Days after the complete ones are thinned: they
     * have all sessions, but fewer repetitions of each.
     */
    static Map<String, byte[]> of(List<OrdinaryTool> tools, int days, int completeDays) {
        OrdinaryLogs logs = new OrdinaryLogs(completeDays);
        tools.forEach(tool -> tool.logs().forEach(format -> logs.write(tool, format, days)));
        Map<String, byte[]> written = new TreeMap<>();
        logs.logs.forEach((format, entries) -> written.put(format, logs.bytes(format, entries)));
        return written;
    }

    /** Returns the number of entries of {@link #of} without writing them. */
    static long entries(List<OrdinaryTool> tools, int days, int completeDays) {
        OrdinaryLogs logs = new OrdinaryLogs(completeDays);
        long entries = 0;
        for (OrdinaryTool tool : tools) {
            for (Session session : tool.sessions()) {
                long repetitions = IntStream.range(0, days)
                        .filter(session::isOn)
                        .mapToLong(day -> logs.seconds(session, day).count())
                        .sum();
                entries += tool.logs().stream()
                        .mapToLong(format -> repetitions * entries(session, format))
                        .sum();
            }
        }
        return entries;
    }

    /** The slow log has no logins, and the audit log in CSV no commands other than queries. */
    private static long entries(Session session, String format) {
        int logins = "slow".equals(format) ? 0 : 2;
        return logins
                + session.statements().stream()
                        .filter(statement -> !"csv".equals(format) || "Query".equals(statement.command()))
                        .mapToLong(Statement::times)
                        .sum();
    }

    private byte[] bytes(String format, List<Entry> entries) {
        entries.sort(Comparator.comparing(Entry::time).thenComparingInt(Entry::number));
        StringBuilder text = new StringBuilder(head(format));
        entries.forEach(entry -> text.append(entry.text()));
        return text.append("xml".equals(format) ? "</AUDIT>\n" : "").toString().getBytes(StandardCharsets.UTF_8);
    }

    private static String head(String format) {
        String server = "/usr/sbin/mysqld, Version: 8.0.36 (MySQL Community Server - GPL). started with:\n"
                + "Tcp port: 3306  Unix socket: /tmp/mysql.sock\n";
        return switch (format) {
            case "general", "slow" -> server + "Time                 Id Command    Argument\n";
            case "xml" -> "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<AUDIT>\n";
            default -> "";
        };
    }

    private void write(OrdinaryTool tool, String format, int days) {
        for (Session session : tool.sessions()) {
            for (int day = 0; day < days; day++) {
                if (session.isOn(day)) {
                    writeDay(session, format, day);
                }
            }
        }
    }

    private void writeDay(Session session, String format, int day) {
        seconds(session, day)
                .forEach(second ->
                        write(session, format, START.plusSeconds((long) day * DAY + second + random.nextInt(5))));
    }

    /** Returns the seconds of a day at which the session begins. */
    private IntStream seconds(Session session, int day) {
        int from = session.office() ? Math.max(session.at(), OFFICE_FROM) : session.at();
        int to = session.office() ? OFFICE_TO : DAY;
        int step = (session.every() == 0 ? DAY : session.every()) * (day < completeDays ? 1 : THINNED);
        return IntStream.iterate(from, second -> second < to, second -> second + step);
    }

    private void write(Session session, String format, Instant start) {
        connection++;
        Instant time = start;
        add(format, time, connect(format, session, time));
        for (Statement statement : session.statements()) {
            for (int i = 0; i < statement.times(); i++) {
                time = time.plusMillis(20);
                add(format, time, statement(format, session, statement, time));
            }
        }
        add(format, time.plusMillis(20), quit(format, session, time.plusMillis(20)));
    }

    private void add(String format, Instant time, String text) {
        logs.computeIfAbsent(format, key -> new ArrayList<>()).add(new Entry(time, number++, text));
    }

    private String connect(String format, Session session, Instant time) {
        boolean local = "localhost".equals(session.host());
        return switch (format) {
            case "csv" -> csv(session, time, "CONNECT", "", 0);
            case "general" -> general(
                    time,
                    "Connect",
                    session.user() + "@" + session.host() + " on " + session.database() + " using "
                            + (local ? "Socket" : "SSL/TLS"));
            case "json" -> record(
                    Map.of("name", "Connect", "user", session.user(), "priv_user", session.user()), session, time, 0);
            case "xml" -> xml("Connect", session, time, "", 0);
            default -> "";
        };
    }

    private String quit(String format, Session session, Instant time) {
        return switch (format) {
            case "csv" -> csv(session, time, "DISCONNECT", "", 0);
            case "general" -> general(time, "Quit", "");
            case "json" -> record(
                    Map.of("name", "Quit", "user", session.user(), "priv_user", session.user()), session, time, 0);
            case "xml" -> xml("Quit", session, time, "", 0);
            default -> "";
        };
    }

    private String statement(String format, Session session, Statement statement, Instant time) {
        String sql = filled(statement.sql());
        String command = statement.command();
        return switch (format) {
            case "csv" -> "Query".equals(command) ? csv(session, time, "QUERY", sql, statement.code()) : "";
            case "general" -> general(time, command, sql);
            case "json" -> record(
                    Map.of("name", command, "sqltext", sql, "user", account(session)), session, time, statement.code());
            case "xml" -> xml(command, session, time, sql, statement.code());
            case "slow" -> slow(
                    session, time, "Query".equals(command) ? sql : "# administrator command: " + command, statement);
            default -> throw new IllegalArgumentException(format);
        };
    }

    private String filled(String sql) {
        if (sql.indexOf('{') < 0) {
            return sql;
        }
        String word =
                WORDS.get(random.nextInt(WORDS.size())).replace("\\", "\\\\").replace("'", "''");
        return sql.replace("{n}", Integer.toString(random.nextInt(100_000) + 2))
                .replace("{w}", word)
                .replace("{x}", Long.toHexString(random.nextLong() | 1L << 62));
    }

    private static String account(Session session) {
        return session.user() + "[" + session.user() + "] @ " + session.host() + " [" + ip(session) + "]";
    }

    private static String ip(Session session) {
        return "localhost".equals(session.host()) ? "" : session.host();
    }

    private String csv(Session session, Instant time, String command, String sql, int code) {
        String statement = sql.isEmpty()
                ? ""
                : "'" + sql.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'";
        return String.join(
                        ",",
                        CSV.format(time),
                        "db-csv",
                        session.user(),
                        session.host(),
                        Integer.toString(connection),
                        Integer.toString(number),
                        command,
                        session.database(),
                        statement,
                        Integer.toString(code))
                + "\n";
    }

    private String general(Instant time, String command, String argument) {
        return SECONDS.format(time)
                + String.format(Locale.ROOT, ".%06dZ\t%5d %s\t", time.getNano() / 1000, connection, command) + argument
                + "\n";
    }

    private String record(Map<String, String> parts, Session session, Instant time, int code) {
        Map<String, Object> record = new TreeMap<>(parts);
        record.put("record", number + "_2026-09-07T00:00:00");
        record.put("timestamp", SECONDS.format(time) + " UTC");
        record.put("connection_id", Integer.toString(connection));
        record.put("status", code);
        record.put("host", session.host());
        record.put("ip", ip(session));
        record.put("db", session.database());
        try {
            return json.writeValueAsString(Map.of("audit_record", record)) + "\n";
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    private String xml(String name, Session session, Instant time, String sql, int code) {
        boolean isQuery = !sql.isEmpty();
        return "<AUDIT_RECORD>\n" + element("NAME", name) + element("RECORD", number + "_2026-09-07T00:00:00")
                + element("TIMESTAMP", SECONDS.format(time) + " UTC")
                + element("CONNECTION_ID", Integer.toString(connection)) + element("STATUS", Integer.toString(code))
                + (isQuery ? element("SQLTEXT", sql) : "")
                + element("USER", isQuery ? account(session) : session.user())
                + element("HOST", session.host()) + element("IP", ip(session)) + element("DB", session.database())
                + "</AUDIT_RECORD>\n";
    }

    private static String element(String name, String text) {
        String escaped = text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
        return "  <" + name + ">" + escaped + "</" + name + ">\n";
    }

    private String slow(Session session, Instant time, String sql, Statement statement) {
        int rows = statement.rows();
        String routine = statement.routine();
        String seconds = Long.toString(time.getEpochSecond());
        return "# Time: " + SECONDS.format(time) + String.format(Locale.ROOT, ".%06dZ\n", time.getNano() / 1000)
                + "# User@Host: " + account(session) + "  Id: " + connection + "\n"
                + "# Query_time: 0.010000  Lock_time: 0.000001 Rows_sent: " + rows + "  Rows_examined: " + rows + "\n"
                + (routine.isEmpty() ? "" : "# Stored_routine: " + routine + "\n")
                + (session.database().isEmpty() ? "" : "use " + session.database() + ";\n")
                + "SET timestamp=" + seconds + ";\n" + sql + ";\n";
    }
}

package io.tailrace.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/**
 * An ordinary tool or habit, and the statements that it sends: a file of {@code src/test/resources/ordinary}.
 *
 * @param name name of the file
 * @param logs formats of the logs that record it, one server each
 * @param sessions its connections
 */
record OrdinaryTool(String name, List<String> logs, List<Session> sessions) {

    /**
     * One repeated connection.
     *
     * @param every seconds from one to the next; 0: once a day
     * @param at second of the day at which it begins
     * @param days days on which it occurs, from 0; empty: all
     * @param office on workdays from 8 to 17 o'clock only
     */
    record Session(
            String user,
            String host,
            String database,
            int every,
            int at,
            List<Integer> days,
            boolean office,
            List<Statement> statements) {

        boolean isOn(int day) {
            return (days.isEmpty() || days.contains(day)) && !(office && day % 7 > 4);
        }
    }

    /**
     * A statement; {@code {n}}, {@code {w}} and {@code {x}} in it are a number, a word and hexadecimal digits.
     *
     * @param command the server's name of the command, if it is not a query
     * @param times number of executions in a row
     * @param routine the stored program that executes it, {@code shop.total}; empty if a client does
     */
    record Statement(String sql, String command, int times, int rows, int code, String routine) {}

    static List<OrdinaryTool> all(Path directory) {
        try (Stream<Path> files = Files.list(directory)) {
            return files.sorted().map(OrdinaryTool::read).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static OrdinaryTool read(Path file) {
        try {
            Map<String, Object> map =
                    cast(new Load(LoadSettings.builder().build()).loadFromString(Files.readString(file)));
            List<Session> sessions = list(map, "sessions").stream()
                    .map(each -> session(map, cast(each)))
                    .toList();
            return new OrdinaryTool(
                    file.getFileName().toString(),
                    list(map, "logs").stream().map(Object::toString).toList(),
                    sessions);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Session session(Map<String, Object> tool, Map<String, Object> map) {
        List<Integer> days =
                list(map, "days").stream().map(day -> (Integer) day).toList();
        return new Session(
                text(map, "user", text(tool, "user", "app")),
                text(map, "host", text(tool, "host", "10.40.1.11")),
                text(map, "database", text(tool, "database", "")),
                number(map, "every", 0),
                clock(text(map, "at", "00:00:07")),
                days,
                Boolean.TRUE.equals(map.get("office")),
                list(map, "statements").stream().map(OrdinaryTool::statement).toList());
    }

    private static Statement statement(Object written) {
        if (!(written instanceof Map)) {
            return new Statement(written.toString(), "Query", 1, 1, 0, "");
        }
        Map<String, Object> map = cast(written);
        return new Statement(
                text(map, "sql", ""),
                text(map, "command", "Query"),
                number(map, "times", 1),
                number(map, "rows", 1),
                number(map, "code", 0),
                text(map, "routine", ""));
    }

    private static int clock(String time) {
        String[] parts = time.split(":");
        return Integer.parseInt(parts[0]) * 3600 + Integer.parseInt(parts[1]) * 60 + Integer.parseInt(parts[2]);
    }

    private static List<?> list(Map<String, Object> map, String key) {
        return map.containsKey(key) ? (List<?>) map.get(key) : List.of();
    }

    private static String text(Map<String, Object> map, String key, String otherwise) {
        return map.getOrDefault(key, otherwise).toString();
    }

    private static int number(Map<String, Object> map, String key, int otherwise) {
        return (Integer) map.getOrDefault(key, otherwise);
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> cast(Object map) {
        return (Map<String, Object>) map;
    }
}

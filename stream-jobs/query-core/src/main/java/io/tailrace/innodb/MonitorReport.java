package io.tailrace.innodb;

import io.tailrace.fingerprint.NormalizedStatement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Parses the output of InnoDB's monitor, of MySQL 5.0 to 9, Percona Server and MariaDB: positions of the redo log,
 * pending work, the purge's lag, waits for semaphores, the latest deadlock and foreign key error.
 *
 * <p>Redo positions are in bytes. If the oldest change that is not yet in a data file is older than 75 % of the redo
 * log's capacity, InnoDB is near synchronous flushing, which stops every writer: {@link #isCheckpointAgeHigh}.
 */
public final class MonitorReport {

    /** The share of the redo log's capacity above which flushing becomes synchronous. */
    public static final double MAX_SHARE = 0.75;

    private static final int MAX_PLACES = 10;

    private final Map<String, String> details;
    private final Map<String, Integer> places = new HashMap<>();
    private String section = "";
    private String previous = "";
    private int waits;
    private double maxWait;
    private final List<String> deadlock = new ArrayList<>();
    private int quotedBefore;
    private boolean high;

    private MonitorReport(Map<String, String> details) {
        this.details = details;
    }

    /**
     * Adds the content of the output to {@code details}.
     *
     * @param text the output, its statements as fingerprints
     * @param statements the statements that the text quotes, in their order
     * @param capacity capacity of the redo log, bytes; 0: as in the output, or unknown
     */
    public static MonitorReport read(
            String text, List<NormalizedStatement> statements, long capacity, Map<String, String> details) {
        MonitorReport report = new MonitorReport(details);
        for (String line : text.split("\n", -1)) {
            report.line(line);
        }
        report.finish(capacity, statements);
        return report;
    }

    /** Returns whether the checkpoint's age is above {@link #MAX_SHARE} of a known capacity. */
    public boolean isCheckpointAgeHigh() {
        return high;
    }

    private void line(String line) {
        boolean rule = line.length() >= 3 && line.chars().allMatch(c -> c == '-');
        if (rule && !previous.isEmpty() && isTitle(previous)) {
            section = previous;
        } else {
            inSection(line);
        }
        previous = line;
    }

    private static boolean isTitle(String line) {
        return line.chars().allMatch(c -> c >= 'A' && c <= 'Z' || c == ' ' || c == '/');
    }

    private void inSection(String line) {
        switch (section) {
            case "SEMAPHORES" -> semaphores(line);
            case "LATEST DETECTED DEADLOCK" -> deadlock.add(line);
            case "LATEST FOREIGN KEY ERROR" -> foreignKey(line);
            case "TRANSACTIONS" -> transactions(line);
            case "FILE I/O" -> fileIo(line);
            case "LOG" -> log(line);
            case "BUFFER POOL AND MEMORY" -> bufferPool(line);
            case "ROW OPERATIONS" -> rows(line);
            default -> {}
        }
    }

    /** Reads {@code --Thread 1401 has waited at btr0cur.cc line 586 for 241.00 seconds the semaphore:}. */
    private void semaphores(String line) {
        int at = line.indexOf(" has waited at ");
        if (at < 0) {
            return;
        }
        waits++;
        String[] words = line.substring(at + " has waited at ".length()).split(" ", 7);
        if (words.length >= 5 && words[1].equals("line")) {
            places.merge(words[0] + ':' + words[2], 1, Integer::sum);
            maxWait = Math.max(maxWait, decimal(words[4]));
        }
    }

    private static double decimal(String text) {
        try {
            return text.length() > 20 ? 0 : Double.parseDouble(text);
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    private static boolean isTransaction(String line) {
        return line.contains("thread id ") && line.contains("query id ");
    }

    private void foreignKey(String line) {
        quotedBefore += deadlock.isEmpty() && isTransaction(line) ? 1 : 0;
        if (line.startsWith("Foreign key constraint fails for table ")) {
            details.putIfAbsent("foreign_key_table", between(line, "table ", ":"));
        } else if (line.contains("CONSTRAINT ")) {
            details.putIfAbsent("foreign_key_constraint", cut(line.strip()));
        } else if (line.startsWith("Error in foreign key constraint of table ")) {
            details.putIfAbsent("foreign_key_table", between(line, "of table ", ":"));
        } else if (!line.isEmpty() && Character.isDigit(line.charAt(0)) && !details.containsKey("foreign_key_time")) {
            details.put("foreign_key_time", time(line));
        }
    }

    private static String time(String line) {
        String[] words = line.strip().split(" +", 3);
        return words.length > 1 ? words[0] + ' ' + words[1] : words[0];
    }

    private void transactions(String line) {
        number("history_list_length", line, "History list length ");
        if (line.startsWith("---TRANSACTION ") && line.contains(", ACTIVE ")) {
            count("active_transactions");
            long seconds = digits(line, ", ACTIVE ");
            long longest = Long.parseLong(details.getOrDefault("longest_transaction_seconds", "0"));
            details.put("longest_transaction_seconds", Long.toString(Math.max(seconds, longest)));
        } else if (line.startsWith("LOCK WAIT") || line.startsWith("------- TRX HAS BEEN WAITING")) {
            count(line.startsWith("LOCK WAIT") ? "lock_waits" : "waiting_transactions");
        }
    }

    private void count(String name) {
        details.put(name, Integer.toString(Integer.parseInt(details.getOrDefault(name, "0")) + 1));
    }

    private void fileIo(String line) {
        number("pending_log_flushes", line, "fsync) log: ");
        number("pending_buffer_pool_flushes", line, "buffer pool: ");
        number("pending_preads", line, "ending preads ");
        number("pending_pwrites", line, "pwrites ");
    }

    private void log(String line) {
        lsn("log_sequence_number", line, "Log sequence number");
        lsn("log_flushed_up_to", line, "Log flushed up to");
        lsn("pages_flushed_up_to", line, "Pages flushed up to");
        lsn("last_checkpoint_at", line, "Last checkpoint at");
        lsn("log_capacity", line, "Log capacity  ");
        lsn("max_checkpoint_age", line, "Max checkpoint age");
        before("pending_log_flushes", line, " pending log flushes");
        before("pending_log_writes", line, " pending log writes");
        before("pending_checkpoint_writes", line, " pending chkp writes");
    }

    private void bufferPool(String line) {
        number("buffer_pool_pages", line, "Buffer pool size   ");
        number("free_buffers", line, "Free buffers       ");
        number("modified_db_pages", line, "Modified db pages  ");
        number("pending_reads", line, "Pending reads");
        if (line.startsWith("Pending writes: ") && !details.containsKey("pending_writes")) {
            details.put("pending_writes", cut(line.substring("Pending writes: ".length())));
        }
    }

    private void rows(String line) {
        before("queries_inside", line, " queries inside InnoDB");
        before("queries_in_queue", line, " queries in queue");
        before("read_views", line, " read views open");
    }

    /** Reads a number after a text at the line's start; MySQL 5.1 and older write two: high and low 32 bits. */
    private void lsn(String name, String line, String start) {
        if (!line.startsWith(start)) {
            return;
        }
        String[] numbers = line.substring(start.length()).strip().split(" ");
        long high32 = numbers.length > 1 ? number(numbers[0]) : 0;
        long low = number(numbers[numbers.length - 1]);
        if (low >= 0 && high32 >= 0) {
            details.putIfAbsent(name, Long.toString((high32 << 32) + low));
        }
    }

    private void number(String name, String line, String before) {
        long value = digits(line, before);
        if (value >= 0) {
            details.putIfAbsent(name, Long.toString(value));
        }
    }

    /** Reads the number directly before a text. */
    private void before(String name, String line, String after) {
        int end = line.indexOf(after);
        int from = end;
        while (from > 0 && Character.isDigit(line.charAt(from - 1))) {
            from--;
        }
        if (end > from) {
            details.putIfAbsent(name, line.substring(from, Math.min(end, from + 18)));
        }
    }

    private static long digits(String line, String before) {
        int at = line.indexOf(before);
        if (at < 0) {
            return -1;
        }
        int from = at + before.length();
        while (from < line.length() && line.charAt(from) == ' ') {
            from++;
        }
        int end = from;
        while (end < line.length() && Character.isDigit(line.charAt(end))) {
            end++;
        }
        return number(line.substring(from, end));
    }

    private static long number(String digits) {
        boolean number =
                !digits.isEmpty() && digits.length() <= 18 && digits.chars().allMatch(c -> c >= '0' && c <= '9');
        return number ? Long.parseLong(digits) : -1;
    }

    private static String between(String line, String before, String after) {
        int from = line.indexOf(before) + before.length();
        int end = line.indexOf(after, from);
        return cut(line.substring(from, end < 0 ? line.length() : end));
    }

    private static String cut(String text) {
        return text.substring(0, Math.min(text.length(), 512));
    }

    private void finish(long knownCapacity, List<NormalizedStatement> statements) {
        details.put("semaphore_waits", Integer.toString(waits));
        if (waits > 0) {
            details.put("semaphore_longest_seconds", Double.toString(maxWait));
            details.put("semaphore_places", places());
        }
        if (!deadlock.isEmpty()) {
            String text = String.join("\n", deadlock);
            details.put("deadlock_time", time(deadlock.get(0)));
            int quoted =
                    (int) deadlock.stream().filter(MonitorReport::isTransaction).count();
            int to = Math.min(statements.size(), quotedBefore + quoted);
            DeadlockReport.read(text, "deadlock_", statements.subList(Math.min(quotedBefore, to), to), details);
        }
        checkpoint(knownCapacity);
    }

    private String places() {
        Map<String, Integer> sorted = new LinkedHashMap<>();
        new TreeMap<>(places)
                .entrySet().stream()
                        .sorted((a, b) -> b.getValue() - a.getValue())
                        .limit(MAX_PLACES)
                        .forEach(place -> sorted.put(place.getKey(), place.getValue()));
        StringBuilder text = new StringBuilder();
        sorted.forEach((place, count) -> text.append(text.length() == 0 ? "" : ", ")
                .append(place)
                .append(" x")
                .append(count));
        return text.toString();
    }

    private void checkpoint(long knownCapacity) {
        long now = number(details.getOrDefault("log_sequence_number", ""));
        long checkpoint = number(details.getOrDefault("last_checkpoint_at", ""));
        if (now < 0 || checkpoint < 0 || now < checkpoint) {
            return;
        }
        long age = now - checkpoint;
        details.put("checkpoint_age", Long.toString(age));
        long capacity = knownCapacity > 0 ? knownCapacity : number(details.getOrDefault("log_capacity", ""));
        capacity = capacity > 0 ? capacity : number(details.getOrDefault("max_checkpoint_age", ""));
        if (capacity > 0) {
            details.put("checkpoint_age_percent", Long.toString(Math.round(100.0 * age / capacity)));
            high = age > MAX_SHARE * capacity;
        }
    }
}

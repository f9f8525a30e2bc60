package io.tailrace.innodb;

import io.tailrace.fingerprint.NormalizedStatement;
import java.util.List;
import java.util.Map;

/**
 * Parses InnoDB's report of a deadlock: the transactions, their statements, the locks that they hold and wait for,
 * and the one that was rolled back. Names of details: {@code transaction_1_thread_id}, {@code …_user}, {@code
 * …_host}, {@code …_query_id}, {@code …_waits_for}, {@code …_holds}, {@code rolled_back}.
 */
public final class DeadlockReport {

    private static final int MAX_TRANSACTIONS = 8;

    private final Map<String, String> details;
    private final String prefix;
    private String transaction = "";
    private boolean holds;

    private DeadlockReport(Map<String, String> details, String prefix) {
        this.details = details;
        this.prefix = prefix;
    }

    /**
     * Adds the content of the report to {@code details}.
     *
     * @param text the report, its statements as fingerprints
     * @param prefix prefix of every name
     * @param statements the statements that the text quotes, in their order
     */
    public static void read(
            String text, String prefix, List<NormalizedStatement> statements, Map<String, String> details) {
        DeadlockReport report = new DeadlockReport(details, prefix);
        for (String line : text.split("\n", -1)) {
            report.line(line.startsWith("InnoDB: ") ? line.substring(8).strip() : line.strip());
        }
        for (int i = 0; i < Math.min(statements.size(), MAX_TRANSACTIONS); i++) {
            details.put(
                    prefix + "transaction_" + (i + 1) + "_statement",
                    shortened(statements.get(i).fingerprint()));
            details.put(
                    prefix + "transaction_" + (i + 1) + "_query_id",
                    statements.get(i).queryIdText());
        }
    }

    private static String shortened(String fingerprint) {
        return fingerprint.substring(0, Math.min(fingerprint.length(), 4_096));
    }

    private void line(String line) {
        if (line.startsWith("*** (")) {
            section(line);
        } else if (line.startsWith("*** WE ROLL BACK TRANSACTION (")) {
            details.put(prefix + "rolled_back", number(line, "TRANSACTION ("));
        } else if (line.startsWith("*** WAITING FOR") || line.startsWith("*** CONFLICTING WITH")) {
            holds = line.startsWith("*** CONFLICTING");
        } else if (!transaction.isEmpty()) {
            ofTransaction(line);
        }
    }

    /** Reads {@code *** (1) TRANSACTION:}, {@code *** (1) HOLDS THE LOCK(S):}, {@code *** (1) WAITING FOR …:}. */
    private void section(String line) {
        String number = number(line, "*** (");
        if (number.length() == 1 && number.charAt(0) <= '0' + MAX_TRANSACTIONS) {
            transaction = prefix + "transaction_" + number + '_';
            holds = line.contains("HOLDS");
        }
    }

    private void ofTransaction(String line) {
        if (line.startsWith("RECORD LOCKS") || line.startsWith("TABLE LOCK")) {
            lock(line);
        } else if (line.contains("thread id ") && line.contains("query id ")) {
            thread(line);
        } else if (line.startsWith("TRANSACTION ")) {
            put("id", word(line, "TRANSACTION "));
        }
    }

    private void lock(String line) {
        String table = word(line, "of table ");
        table = table.isEmpty() ? word(line, " table ") : table;
        String index = word(line, " index ");
        int mode = line.indexOf("lock");
        mode = line.indexOf("lock mode", Math.max(mode, 0)) >= 0
                ? line.indexOf("lock mode")
                : line.indexOf("lock_mode");
        String place =
                table + (index.isEmpty() ? "" : " index " + index) + (mode < 0 ? "" : ' ' + line.substring(mode));
        put(holds ? "holds" : "waits_for", place.length() > 512 ? place.substring(0, 512) : place);
    }

    /** Reads {@code MySQL thread id 20, OS thread handle 1401, query id 101 web-1 10.0.0.1 app updating}. */
    private void thread(String line) {
        put("thread_id", number(line, "thread id "));
        int query = line.indexOf("query id ");
        String[] words = line.substring(query + "query id ".length()).split(" ", 6);
        int user = 2;
        if (words.length > 1) {
            put("host", words[1]);
            boolean two = words.length > 3
                    && words[2].chars().allMatch(c -> c == '.' || c == ':' || Character.digit(c, 16) >= 0)
                    && (words[2].indexOf('.') > 0 || words[2].indexOf(':') >= 0);
            user += two ? 1 : 0;
        }
        if (words.length > user) {
            put("user", words[user]);
        }
    }

    private void put(String name, String value) {
        if (!value.isEmpty()) {
            details.putIfAbsent(transaction + name, value);
        }
    }

    private static String number(String line, String before) {
        int from = line.indexOf(before) + before.length();
        int end = from;
        while (end < line.length() && Character.isDigit(line.charAt(end))) {
            end++;
        }
        return line.substring(from, end);
    }

    private static String word(String line, String before) {
        int at = line.indexOf(before);
        if (at < 0) {
            return "";
        }
        int from = at + before.length();
        int end = from;
        while (end < line.length() && line.charAt(end) != ' ' && line.charAt(end) != ',') {
            end++;
        }
        return line.substring(from, end);
    }
}

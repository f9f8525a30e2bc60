package io.tailrace.fingerprint.mask;

import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.SqlBytes;
import io.tailrace.lexer.WordTable;
import java.util.HashMap;
import java.util.Map;

/**
 * Rules for masking a statement's names. Statements that define, administer or describe an object keep its name.
 * Statements that read or write rows have the same class for all shards and months of a table.
 */
enum NameMaskRules {
    /** Digits are masked. */
    MASKED,
    KEPT,
    /** Names are kept, including the case of names in backticks. */
    ACCOUNTS,
    /** Names are kept up to the end of the text, because a program contains statements. */
    PROGRAM;

    /** First words of statements whose names are kept. */
    private enum Verb {
        DEFINITION,
        DROP,
        RENAME,
        ACCOUNTS,
        SET,
        SHOW,
        DESCRIBE,
        ANALYZE,
        BEGIN,
        OTHER
    }

    private static final WordTable<Verb> VERBS = WordTable.ofAnyCase(verbs());

    /** The rules by the word after the verb, or by the kind of the defined object. */
    private static final WordTable<NameMaskRules> OBJECTS = WordTable.ofAnyCase(objects());

    private static final WordTable<Boolean> READ_OR_WRITE = WordTable.ofAnyCase(readOrWrite());

    private static final byte[] LOCAL = ByteText.ascii("local");
    private static final byte[] NO_WRITE = ByteText.ascii("no_write_to_binlog");

    /** Maximum number of words of a definition that are inspected: options precede the kind of object. */
    private static final int MAX_WORDS = 16;

    private static Map<String, Verb> verbs() {
        Map<String, Verb> verbs = new HashMap<>();
        put(verbs, Verb.DEFINITION, "create", "alter");
        put(verbs, Verb.DROP, "drop");
        put(verbs, Verb.RENAME, "rename");
        put(verbs, Verb.ACCOUNTS, "grant", "revoke", "kill", "clone");
        put(verbs, Verb.SET, "set");
        put(verbs, Verb.SHOW, "show");
        put(verbs, Verb.DESCRIBE, "describe", "desc", "explain");
        put(verbs, Verb.ANALYZE, "analyze");
        put(verbs, Verb.BEGIN, "begin");
        put(verbs, Verb.OTHER, "truncate", "use", "lock", "check", "checksum", "repair", "optimize", "flush", "change");
        put(verbs, Verb.OTHER, "start", "stop", "reset", "purge", "import", "install", "uninstall");
        return verbs;
    }

    private static Map<String, NameMaskRules> objects() {
        Map<String, NameMaskRules> objects = new HashMap<>();
        // Clients number their temporary tables and prepared statements.
        put(objects, MASKED, "temporary", "prepare", "statement");
        put(objects, ACCOUNTS, "user", "role", "password", "default", "session", "grants");
        put(objects, PROGRAM, "procedure", "function", "trigger", "event", "package");
        // BEGIN NOT ATOMIC
        put(objects, PROGRAM, "not");
        put(
                objects,
                KEPT,
                "table",
                "tables",
                "view",
                "index",
                "database",
                "schema",
                "server",
                "tablespace",
                "sequence");
        return objects;
    }

    private static Map<String, Boolean> readOrWrite() {
        Map<String, Boolean> words = new HashMap<>();
        put(words, true, "select", "insert", "replace", "update", "delete", "with", "table", "values");
        put(words, true, "extended", "partitions", "format", "analyze", "for", "into");
        return words;
    }

    @SafeVarargs
    private static <V> void put(Map<String, V> values, V value, String... words) {
        for (String word : words) {
            values.put(word, value);
        }
    }

    /** Returns the rules of the masked statement that begins at {@code from}. */
    static NameMaskRules of(byte[] text, int from, int to) {
        int first = wordFrom(text, from, to);
        int firstEnd = SqlBytes.wordEnd(text, first, to);
        Verb verb = VERBS.get(text, first, firstEnd);
        if (verb == null) {
            return MASKED;
        }
        int second = wordFrom(text, firstEnd, to);
        int secondEnd = SqlBytes.wordEnd(text, second, to);
        NameMaskRules next = OBJECTS.get(text, second, secondEnd);
        return switch (verb) {
            case DEFINITION -> defined(text, second, to);
            case DROP -> next == MASKED || next == ACCOUNTS ? next : KEPT;
            case RENAME -> next == ACCOUNTS ? ACCOUNTS : KEPT;
            case SET -> next == ACCOUNTS || next == MASKED ? next : KEPT;
            case SHOW -> shown(text, second, to);
            case DESCRIBE -> READ_OR_WRITE.get(text, second, secondEnd) == null ? KEPT : MASKED;
            case ANALYZE -> isMaintenance(text, second, secondEnd) ? KEPT : MASKED;
            case ACCOUNTS -> ACCOUNTS;
            case BEGIN -> next == PROGRAM ? PROGRAM : MASKED;
            case OTHER -> KEPT;
        };
    }

    private static NameMaskRules defined(byte[] text, int from, int to) {
        int word = from;
        for (int i = 0; i < MAX_WORDS && word < to; i++) {
            int end = SqlBytes.wordEnd(text, word, to);
            NameMaskRules object = OBJECTS.get(text, word, end);
            if (object != null) {
                return object;
            }
            word = wordFrom(text, end, to);
        }
        return KEPT;
    }

    /** Returns the rules of SHOW: GRANTS and CREATE USER concern accounts. */
    private static NameMaskRules shown(byte[] text, int from, int to) {
        int end = SqlBytes.wordEnd(text, from, to);
        int next = wordFrom(text, end, to);
        boolean accounts = OBJECTS.get(text, from, end) == ACCOUNTS
                || OBJECTS.get(text, next, SqlBytes.wordEnd(text, next, to)) == ACCOUNTS;
        return accounts ? ACCOUNTS : KEPT;
    }

    /** Returns whether ANALYZE TABLE follows; otherwise ANALYZE runs a statement and shows its plan. */
    private static boolean isMaintenance(byte[] text, int from, int to) {
        NameMaskRules object = OBJECTS.get(text, from, to);
        return object == KEPT
                || ByteText.equalsIgnoreCase(text, from, to, LOCAL)
                || ByteText.equalsIgnoreCase(text, from, to, NO_WRITE);
    }

    /** Returns the index after the statement's semicolon. */
    static int end(byte[] text, int from, int to) {
        int i = from;
        while (i < to && text[i] != ';') {
            i = isQuote(text[i]) ? afterQuoted(text, i, to) : i + 1;
        }
        return Math.min(i + 1, to);
    }

    /** Returns the index of the next unquoted word; the mark of a version comment is not a word. */
    private static int wordFrom(byte[] text, int from, int to) {
        int i = from;
        while (i < to && (!SqlBytes.isWord(text[i]) || i + 1 < to && text[i + 1] == '!')) {
            i = isQuote(text[i]) ? afterQuoted(text, i, to) : i + 1;
        }
        return i;
    }

    private static boolean isQuote(byte b) {
        return b == '`' || b == '"';
    }

    private static int afterQuoted(byte[] text, int from, int to) {
        return Math.min(ByteText.firstOf(text, from + 1, to, text[from], text[from]) + 1, to);
    }
}

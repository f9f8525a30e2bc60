package io.tailrace.errorlog;

import io.tailrace.fingerprint.Fingerprinter;
import io.tailrace.fingerprint.credential.CredentialNames;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * Masks values of rows, passwords and parts of statements in messages that quote them without marking them. From the
 * first word of what may be a statement to the message's end, the lexer reads the text.
 */
final class QuotedValueMask {

    /** A word that contains one of these, in any case, before a {@code =} or a blank names a password or key. */
    private static final List<String> SECRETS = Stream.of(
                    CredentialNames.PARTS.stream(),
                    CredentialNames.ENDS.stream(),
                    Stream.of("pass=", "auth=", "--auth ", "auth =", "crypt-key", "crypt_key"),
                    Stream.of("secret", "token=", "token ="),
                    Stream.of("transition-key", "access-key"))
            .flatMap(names -> names)
            .toList();

    /** Prefix of MySQL's programs, which accept a password directly after {@code -p}. */
    private static final String CLIENT = "mysql";

    private static final String TEMPORARY_PASSWORD = "temporary password is generated for ";

    /** Words that occur in statements and hardly in a server's own messages. */
    // spotless:off
    private static final String[] STATEMENTS = {
        "insert into ", "insert ignore ", "replace into ", "delete from ", "update `", " set `", "identified by",
        "set password", "values (", "values(", "select ", "load data ", "create user", "alter user", "create table",
        "alter table", "create definer", "call ", "update ", "grant ", "change master to", "change replication source",
    };
    // spotless:on

    private final Fingerprinter fingerprinter;

    QuotedValueMask(Fingerprinter fingerprinter) {
        this.fingerprinter = fingerprinter;
    }

    /** Appends the text without values. */
    void write(String text, StringBuilder out) {
        if (namesAnAccount(text)) {
            out.append(text);
            return;
        }
        String safe = withoutValues(text);
        int start = statement(safe);
        boolean literal = start >= 0 && (safe.indexOf('\'', start) >= 0 || safe.indexOf('"', start) >= 0);
        if (!literal) {
            out.append(safe);
            return;
        }
        byte[] rest = safe.substring(start).getBytes(StandardCharsets.UTF_8);
        out.append(safe, 0, start)
                .append(fingerprinter.statement(rest, 0, rest.length).fingerprint());
    }

    /**
     * Returns whether a message names an account. Such names are kept, whatever they contain: {@code Access denied
     * for user 'x' or '1'='1'@'localhost' …}. Messages about a changed source of a replica contain names and
     * positions, but no password.
     */
    static boolean namesAnAccount(String text) {
        return text.startsWith("Access denied for user '")
                        && (text.endsWith("(using password: YES)") || text.endsWith("(using password: NO)"))
                || text.startsWith("Aborted connection ") && text.indexOf(" user: '") > 0
                || text.startsWith("'CHANGE ") && text.contains(" executed'. Previous state ");
    }

    private static String withoutValues(String text) {
        String safe = text;
        for (QuoteTracker.Pair pair : QuoteTracker.PAIRS) {
            safe = without(safe, pair.before(), pair.after());
        }
        safe = withoutCredentials(withoutAssignments(safe));
        int password = safe.indexOf(TEMPORARY_PASSWORD);
        if (password >= 0) {
            int colon = safe.indexOf(": ", password + TEMPORARY_PASSWORD.length());
            safe = colon < 0 ? safe : safe.substring(0, colon + 2) + '?';
        }
        return safe;
    }

    private static String without(String text, String before, String after) {
        int start = text.indexOf(before);
        if (start < 0) {
            return text;
        }
        int from = start + before.length();
        int to = text.lastIndexOf(after);
        return text.substring(0, from) + '?' + (to >= from ? text.substring(to) : "");
    }

    /**
     * Masks the credentials of {@code scheme://user:password@host}: the text between the first colon and the last at
     * sign of the word.
     */
    private static String withoutCredentials(String text) {
        int url = text.indexOf("://");
        if (url < 0) {
            return text;
        }
        StringBuilder safe = new StringBuilder(text.length());
        int written = 0;
        while (url >= 0) {
            int from = url + "://".length();
            int end = wordEnd(text, from);
            int colon = text.indexOf(':', from);
            int at = text.lastIndexOf('@', end - 1);
            if (colon >= 0 && colon < at) {
                safe.append(text, written, colon + 1).append('?');
                written = at;
            }
            url = text.indexOf("://", end);
        }
        return safe.append(text, written, text.length()).toString();
    }

    /** Masks options, environment variables and shell traces: {@code --password=…}, {@code MYSQL_PWD=…}. */
    private static String withoutAssignments(String text) {
        String lower = text.toLowerCase(Locale.ROOT);
        boolean client = lower.contains(CLIENT) && lower.contains(" -p");
        if (lower.length() != text.length() || !client && !holdsSecret(lower)) {
            return text;
        }
        StringBuilder safe = new StringBuilder(text.length());
        int word = 0;
        while (word < text.length()) {
            int end = wordEnd(text, word);
            int equals = text.substring(word, end).indexOf('=') + word;
            boolean assigns = equals > word && holdsSecret(lower.substring(word, equals + 1));
            boolean option = isOption(lower, word, end);
            boolean spaced = lower.startsWith(" = ", end) && holdsSecret(lower.substring(word, end) + " =");
            if (spaced) {
                safe.append(text, word, end).append(" = ?");
                end = valueEnd(text, end + " = ".length());
            } else if (client && end - word > 2 && lower.startsWith("-p", word)) {
                safe.append("-p?");
                end = valueEnd(text, word + 2);
            } else if (assigns) {
                safe.append(text, word, equals + 1).append('?');
                end = valueEnd(text, equals + 1);
            } else if (option) {
                safe.append(text, word, end).append(" ?");
                end = valueEnd(text, Math.min(end + 1, text.length()));
            } else {
                safe.append(text, word, end);
            }
            word = end;
            while (word < text.length() && text.charAt(word) == ' ') {
                safe.append(text.charAt(word++));
            }
        }
        return safe.toString();
    }

    /** Returns whether the value of an option is the next word, as in {@code --password …}. */
    private static boolean isOption(String lower, int word, int end) {
        String name = lower.substring(word, end);
        boolean value = end < lower.length() && !lower.startsWith(" -", end);
        return value && name.startsWith("--") && name.indexOf('=') < 0 && holdsSecret(name + ' ');
    }

    private static int wordEnd(String text, int from) {
        int end = text.indexOf(' ', from);
        return end < 0 ? text.length() : end;
    }

    /**
     * Returns the end of a value. A quoted value may contain blanks; one whose quote never closes extends to the end.
     */
    private static int valueEnd(String text, int from) {
        char quote = from < text.length() ? text.charAt(from) : ' ';
        if (quote != '\'' && quote != '"') {
            return wordEnd(text, from);
        }
        int close = text.indexOf(quote, from + 1);
        return close < 0 ? text.length() : wordEnd(text, close);
    }

    private static boolean holdsSecret(String lower) {
        for (String secret : SECRETS) {
            if (lower.contains(secret)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns the index of the first word of what may be a statement, or -1.
     *
     * @param text a line, one character per byte
     */
    static int statement(String text) {
        if (namesAnAccount(text)) {
            return -1;
        }
        String lower = text.toLowerCase(Locale.ROOT);
        int first = -1;
        for (String word : STATEMENTS) {
            int at = lower.indexOf(word);
            boolean start = at == 0 || at > 0 && (word.charAt(0) == ' ' || !Character.isLetter(lower.charAt(at - 1)));
            if (start && (first < 0 || at < first)) {
                first = at;
            }
        }
        return lower.length() == text.length() ? first : Math.min(first, 0);
    }
}

package io.tailrace.generallog;

import io.tailrace.lexer.ByteText;

/**
 * Parses the argument of {@code Connect} and {@code Change user}. Users and databases may contain almost any
 * character. Host names contain neither {@code @} nor blanks, so the last {@code @} before {@code  on } is decisive, and a
 * database is ambiguous only if it contains {@code @word on }.
 *
 * <pre>
 * root@localhost on shop using Socket      MySQL 5.7 and later, MariaDB
 * root@localhost on shop                   older
 * app@web-1 as proxied on shop using TCP/IP   a proxy user
 * Access denied for user 'app'@'web-1' (using password: YES)
 * </pre>
 */
final class ConnectArgument {

    private static final byte[] ON = ByteText.ascii(" on ");
    private static final byte[] AS = ByteText.ascii(" as ");
    private static final byte[] USING = ByteText.ascii(" using ");
    private static final byte[] DENIED = ByteText.ascii("Access denied for user '");

    boolean denied;
    int userFrom;
    int userTo;
    int hostFrom;
    int hostTo;
    int asFrom;
    int asTo;
    int databaseFrom;
    int databaseTo;
    int usingFrom;
    int usingTo;

    /** Reads an argument; returns false if it names no account. */
    boolean read(byte[] bytes, int from, int to) {
        denied = ByteText.startsWith(bytes, from, to, DENIED);
        asFrom = asTo = databaseFrom = databaseTo = usingFrom = usingTo = to;
        return denied ? quoted(bytes, from + DENIED.length, to) : plain(bytes, from, to);
    }

    private boolean quoted(byte[] bytes, int from, int to) {
        int at = ByteText.lastIndexOf(bytes, from, to, ByteText.ascii("'@'"));
        if (at < 0) {
            return false;
        }
        int host = at + 3;
        int end = host;
        while (end < to && bytes[end] != '\'') {
            end++;
        }
        place(from, at, host, end);
        return true;
    }

    private boolean plain(byte[] bytes, int from, int to) {
        int using = ByteText.lastIndexOf(bytes, from, to, USING);
        int end = using < 0 ? to : using;
        usingFrom = using < 0 ? to : using + USING.length;
        usingTo = to;
        int on = lastOn(bytes, from, end);
        int accountTo = on < 0 ? end : on;
        int at = lastAt(bytes, from, accountTo);
        if (at < 0) {
            return false;
        }
        databaseFrom = on < 0 ? end : Math.min(on + ON.length, end);
        databaseTo = ByteText.trimBlanks(bytes, databaseFrom, end);
        int as = ByteText.indexOf(bytes, at, accountTo, AS);
        asFrom = as < 0 ? accountTo : as + AS.length;
        asTo = accountTo;
        place(from, at, at + 1, as < 0 ? accountTo : as);
        return true;
    }

    /**
     * Returns the index of the last {@code  on } behind a word that contains {@code @}, because a user and a database may
     * contain {@code  on }, too; of the last one if none is behind such a word; or -1.
     */
    private static int lastOn(byte[] bytes, int from, int to) {
        int last = ByteText.lastIndexOf(bytes, from, to, ON);
        if (last < 0 && ByteText.endsWith(bytes, from, to, ByteText.ascii(" on"))) {
            return to - 3;
        }
        int on = last;
        while (on >= 0 && !followsHost(bytes, from, on)) {
            on = ByteText.lastIndexOf(bytes, from, on + 1, ON);
        }
        return on < 0 ? last : on;
    }

    private static boolean followsHost(byte[] bytes, int from, int on) {
        int i = on - 1;
        while (i >= from && bytes[i] != '@' && bytes[i] != ' ') {
            i--;
        }
        return i >= from && bytes[i] == '@';
    }

    private static int lastAt(byte[] bytes, int from, int to) {
        for (int i = to - 1; i >= from; i--) {
            if (bytes[i] == '@') {
                return i;
            }
        }
        return -1;
    }

    private void place(int from, int at, int host, int end) {
        userFrom = from;
        userTo = at;
        hostFrom = host;
        hostTo = end;
    }
}

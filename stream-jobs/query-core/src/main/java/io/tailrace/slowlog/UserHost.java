package io.tailrace.slowlog;

import io.tailrace.client.ClientAddress;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.StringPool;
import java.util.Arrays;

/**
 * Parses {@code # User@Host: priv_user[user] @ host [ip]  Id: 7}. Nothing in it is quoted, so it is parsed from its
 * right end: an address contains no bracket and a host no blank, while a user's name may contain any character, also
 * the beginning of such a line.
 */
final class UserHost {

    private static final byte[] PREFIX = ByteText.ascii("# User@Host:");
    private static final byte[] ID = ByteText.ascii(" Id:");
    private static final byte[] AT = ByteText.ascii("] @ ");

    /** An account as the line spells it. */
    private record Account(String user, String privilegedUser, String host, String ip) {}

    private static final Account NOBODY = new Account("", "", "", "");
    private static final int SLOTS = 1024;
    private static final int MAX_KEY_LENGTH = 256;

    String user = "";
    /** The account that the server matched, if its name differs from the user's. */
    String privilegedUser = "";

    String host = "";
    String ip = "";
    /** 0 if the line has none. */
    long connectionId;

    /**
     * A cache of lines, because most lines name one of a few accounts. The key is the whole text, so a hit is exact.
     */
    private final byte[][] keys = new byte[SLOTS][];

    private final Account[] accounts = new Account[SLOTS];

    void clear() {
        take(NOBODY);
        connectionId = 0;
    }

    private void take(Account account) {
        user = account.user;
        privilegedUser = account.privilegedUser;
        host = account.host;
        ip = account.ip;
    }

    void read(byte[] bytes, int lineFrom, int lineTo, StringPool strings) {
        clear();
        int from = ByteText.indexOf(bytes, lineFrom, lineTo, PREFIX) + PREFIX.length;
        from = afterBlank(bytes, from, lineTo);
        int to = connectionId(bytes, from, lineTo);
        from = accountFrom(bytes, from, to);
        int slot = ByteText.hash(bytes, from, to) & SLOTS - 1;
        byte[] key = keys[slot];
        if (key != null && Arrays.equals(key, 0, key.length, bytes, from, to)) {
            take(accounts[slot]);
            return;
        }
        account(bytes, from, to, strings);
        if (to - from <= MAX_KEY_LENGTH) {
            keys[slot] = Arrays.copyOfRange(bytes, from, to);
            accounts[slot] = new Account(user, privilegedUser, host, ip);
        }
    }

    /**
     * Returns the start of the account. Another prefix in the line belongs to the user's name if the name fits with it;
     * otherwise a crash cut the line, and the next entry begins at the last prefix.
     */
    private static int accountFrom(byte[] bytes, int from, int to) {
        int last = ByteText.lastIndexOf(bytes, from, to, PREFIX);
        if (last < 0) {
            return from;
        }
        int at = ByteText.lastIndexOf(bytes, from, to, AT);
        boolean whole = at > last && (bytes[from] == '[' || middle(bytes, from, at) >= 0);
        return whole ? from : afterBlank(bytes, last + PREFIX.length, to);
    }

    /** Skips the one blank that the server writes; others belong to the name. */
    private static int afterBlank(byte[] bytes, int from, int to) {
        return from < to && bytes[from] == ' ' ? from + 1 : from;
    }

    private void account(byte[] bytes, int from, int to, StringPool strings) {
        int at = ByteText.lastIndexOf(bytes, from, to, AT);
        if (at < 0) {
            user = strings.utf8(bytes, from, ByteText.trimBlanks(bytes, from, to));
            return;
        }
        hostAndAddress(bytes, at + AT.length, to, strings);
        names(bytes, from, at, strings);
    }

    private int connectionId(byte[] bytes, int from, int to) {
        int key = ByteText.lastIndexOf(bytes, from, to, ID);
        if (key < 0) {
            return ByteText.trimBlanks(bytes, from, to);
        }
        int value = ByteText.skipBlanks(bytes, key + ID.length, to);
        long id = ByteText.unsigned(bytes, value, ByteText.trimBlanks(bytes, value, to));
        if (id < 0) {
            return ByteText.trimBlanks(bytes, from, to);
        }
        connectionId = id;
        return ByteText.trimBlanks(bytes, from, key);
    }

    private void hostAndAddress(byte[] bytes, int from, int to, StringPool strings) {
        int open = to;
        if (to > from && bytes[to - 1] == ']') {
            open = to - 1;
            while (open > from && bytes[open] != '[') {
                open--;
            }
            ip = bytes[open] == '[' ? strings.utf8(bytes, open + 1, to - 1) : "";
        }
        int first = ByteText.skipBlanks(bytes, from, open);
        ClientAddress client =
                ClientAddress.of(strings.utf8(bytes, first, ByteText.trimBlanks(bytes, first, open)), ip);
        host = client.host();
        ip = client.address();
    }

    /**
     * Splits {@code priv_user[user}. If both are equal, the bracket in the middle separates them; otherwise the first
     * one.
     */
    private void names(byte[] bytes, int from, int to, StringPool strings) {
        int split = middle(bytes, from, to);
        if (split < 0) {
            split = from;
            while (split < to && bytes[split] != '[') {
                split++;
            }
        }
        user = strings.utf8(bytes, Math.min(split + 1, to), to);
        String account = strings.utf8(bytes, from, split);
        privilegedUser = account.equals(user) ? "" : account;
    }

    /** Returns the index of the bracket between two equal names, or -1. */
    private static int middle(byte[] bytes, int from, int to) {
        int length = (to - from - 1) / 2;
        int split = from + length;
        boolean bracket = (to - from) % 2 == 1 && bytes[split] == '[';
        return bracket && equal(bytes, from, split + 1, length) ? split : -1;
    }

    private static boolean equal(byte[] bytes, int first, int second, int length) {
        for (int i = 0; i < length; i++) {
            if (bytes[first + i] != bytes[second + i]) {
                return false;
            }
        }
        return true;
    }
}

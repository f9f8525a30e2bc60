package io.tailrace.fingerprint;

import io.tailrace.lexer.ByteText;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Locale;

/**
 * Finds the class of a statement. The rules are those of {@value #RULE_SET}; docs/FINGERPRINT.md lists them with a
 * case each, and where and why they differ from Percona's. Not thread-safe.
 */
public final class Fingerprinter {

    /** Name and version of the rules: ids of different rule sets must not be compared. */
    public static final String RULE_SET = "tailrace-1";

    /** Longest text of a fingerprint, bytes; its id is of the whole. */
    public static final int LONGEST_TEXT = 16 << 10;

    private static final byte[] DUMP = ByteText.ascii("SELECT /*!40001 SQL_NO_CACHE */ * FROM `");
    private static final byte[] ADMINISTRATOR = ByteText.ascii("administrator command: ");
    private static final byte[] USE = ByteText.ascii("use");
    private static final StatementShape NOTHING = shape(new byte[0], 0, "");

    private static final int SLOTS = 4096;
    private static final int LONGEST_KEY = 8 << 10;

    private final Masker masker = new Masker();
    private final Collapser collapser = new Collapser();
    private final byte[][] keys = new byte[SLOTS][];
    private final StatementShape[] shapes = new StatementShape[SLOTS];

    /** The class of the statement in the range; a final semicolon and white space do not count. */
    public StatementShape statement(byte[] bytes, int from, int to) {
        int start = ByteText.skipBlanks(bytes, from, to);
        int end = withoutSemicolon(bytes, start, to);
        if (ByteText.startsWith(bytes, start, end, ADMINISTRATOR)) {
            return administratorCommand(bytes, start, end);
        }
        if (ByteText.startsWith(bytes, start, end, DUMP)) {
            return named("mysqldump", "SELECT");
        }
        masker.mask(bytes, start, end);
        return masked(withoutSemicolon(masker.bytes(), 0, masker.length()));
    }

    /**
     * The statement without literals and comments, in lower case, its lists as long as they are: the text of which
     * {@link #statement} makes a class.
     */
    public String masked(byte[] bytes, int from, int to) {
        masker.mask(bytes, ByteText.skipBlanks(bytes, from, to), withoutSemicolon(bytes, from, to));
        return ByteText.utf8(masker.bytes(), 0, masker.length());
    }

    /** The class of {@code administrator command: Quit}. */
    public StatementShape administratorCommand(byte[] bytes, int from, int to) {
        return cached(bytes, from, withoutSemicolon(bytes, from, to), "ADMIN", false);
    }

    private static int withoutSemicolon(byte[] bytes, int from, int to) {
        int end = ByteText.trimBlanks(bytes, from, to);
        while (end > from && bytes[end - 1] == ';') {
            end = ByteText.trimBlanks(bytes, from, end - 1);
        }
        return end;
    }

    /** {@code length} is that of the masked text without a semicolon that a comment follows. */
    private StatementShape masked(int length) {
        if (length == 0) {
            return NOTHING;
        }
        if (masker.hasToolComment()) {
            return named("percona-toolkit", verb());
        }
        if (masker.verbFrom() == 0 && ByteText.equalsIgnoreCase(masker.bytes(), 0, masker.verbTo(), USE)) {
            return named("use ?", "USE");
        }
        return cached(masker.bytes(), 0, length, null, true);
    }

    private static StatementShape named(String name, String verb) {
        byte[] bytes = name.getBytes(StandardCharsets.US_ASCII);
        return shape(bytes, bytes.length, verb);
    }

    /**
     * Most statements of a log are of few classes: a text that was seen before needs no second step and no digest.
     * The key is the whole text, so a hit is exact.
     */
    private StatementShape cached(byte[] bytes, int from, int to, String knownVerb, boolean collapse) {
        int slot = slot(bytes, from, to);
        byte[] key = keys[slot];
        if (key != null && Arrays.equals(key, 0, key.length, bytes, from, to)) {
            return shapes[slot];
        }
        String verb = knownVerb == null ? verb() : knownVerb;
        StatementShape shape =
                collapse ? collapsed(to, verb) : shape(Arrays.copyOfRange(bytes, from, to), to - from, verb);
        if (to - from <= LONGEST_KEY) {
            keys[slot] = Arrays.copyOfRange(bytes, from, to);
            shapes[slot] = shape;
        }
        return shape;
    }

    private StatementShape collapsed(int length, String verb) {
        collapser.collapse(masker.bytes(), length);
        return shape(collapser.bytes(), collapser.length(), verb);
    }

    private String verb() {
        if (masker.verbFrom() < 0) {
            return "";
        }
        return ByteText.utf8(masker.bytes(), masker.verbFrom(), masker.verbTo()).toUpperCase(Locale.ROOT);
    }

    private static int slot(byte[] bytes, int from, int to) {
        long hash = 0;
        for (int i = from; i < to; i++) {
            hash = hash * 31 + bytes[i];
        }
        return (int) (hash ^ hash >>> 17 ^ hash >>> 41) & SLOTS - 1;
    }

    private static StatementShape shape(byte[] text, int length, String verb) {
        MessageDigest md5 = md5();
        md5.update(text, 0, length);
        byte[] digest = md5.digest();
        long id = 0;
        for (int i = 8; i < 16; i++) {
            id = id << 8 | digest[i] & 0xff;
        }
        return new StatementShape(ByteText.utf8(text, 0, shownLength(text, length)), id, verb);
    }

    /** At most {@link #LONGEST_TEXT} bytes that do not cut a UTF-8 character. */
    private static int shownLength(byte[] text, int length) {
        if (length <= LONGEST_TEXT) {
            return length;
        }
        int end = LONGEST_TEXT;
        while (end > LONGEST_TEXT - 4 && (text[end] & 0xc0) == 0x80) {
            end--;
        }
        return end;
    }

    private static MessageDigest md5() {
        try {
            return MessageDigest.getInstance("MD5");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has MD5", e);
        }
    }
}

package io.tailrace.fingerprint;

import io.tailrace.lexer.ByteText;
import java.nio.charset.StandardCharsets;

/**
 * Finds the word of a statement after which a password may stand, in any spelling: quoted, bare, hashed, or in what
 * a server's own masking has left. Everything after it is one placeholder.
 */
final class PasswordGuard {

    private enum Statement {
        UNKNOWN,
        /** CREATE or ALTER, before the kind of object. */
        DEFINITION,
        /** CREATE or ALTER USER or ROLE, GRANT: a password follows IDENTIFIED. */
        ACCOUNT,
        /** CREATE or ALTER SERVER: a password may stand in its OPTIONS. */
        SERVER,
        /** SET, CHANGE MASTER, CHANGE REPLICATION SOURCE, START REPLICA: one follows a word that ends so. */
        ASSIGNMENT,
        HARMLESS
    }

    private static final byte[] PASSWORD = ByteText.ascii("password");
    private static final byte[] IDENTIFIED = ByteText.ascii("identified");
    private static final byte[] OPTIONS = ByteText.ascii("options");
    private static final int LONGEST_KEYWORD = 10;

    private Statement statement;

    void reset() {
        statement = Statement.UNKNOWN;
    }

    /** Reads the next word; true when all that follows must be masked. */
    boolean masksRest(byte[] bytes, int from, int to) {
        return switch (statement) {
            case UNKNOWN -> {
                statement = kind(keyword(bytes, from, to));
                yield false;
            }
            case DEFINITION -> {
                statement = object(keyword(bytes, from, to));
                yield false;
            }
            case ACCOUNT -> ByteText.equalsIgnoreCase(bytes, from, to, IDENTIFIED);
            case SERVER -> ByteText.equalsIgnoreCase(bytes, from, to, OPTIONS);
            case ASSIGNMENT -> to - from >= PASSWORD.length
                    && ByteText.startsWithIgnoreCase(bytes, to - PASSWORD.length, to, PASSWORD);
            case HARMLESS -> false;
        };
    }

    private static String keyword(byte[] bytes, int from, int to) {
        int length = Math.min(to - from, LONGEST_KEYWORD);
        byte[] lower = new byte[length];
        for (int i = 0; i < length; i++) {
            lower[i] = ByteText.lower(bytes[from + i]);
        }
        return new String(lower, StandardCharsets.ISO_8859_1);
    }

    private static Statement kind(String verb) {
        return switch (verb) {
            case "create", "alter" -> Statement.DEFINITION;
            case "grant" -> Statement.ACCOUNT;
            case "set", "change", "start" -> Statement.ASSIGNMENT;
            default -> Statement.HARMLESS;
        };
    }

    private static Statement object(String word) {
        return switch (word) {
            case "or", "replace", "if", "not", "exists" -> Statement.DEFINITION;
            case "user", "role" -> Statement.ACCOUNT;
            case "server" -> Statement.SERVER;
            default -> Statement.HARMLESS;
        };
    }
}

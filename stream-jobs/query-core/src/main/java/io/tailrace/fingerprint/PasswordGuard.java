package io.tailrace.fingerprint;

import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.WordTable;
import java.util.Map;

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
    private static final WordTable<Statement> VERBS = WordTable.ofAnyCase(Map.of(
            "create", Statement.DEFINITION,
            "alter", Statement.DEFINITION,
            "grant", Statement.ACCOUNT,
            "set", Statement.ASSIGNMENT,
            "change", Statement.ASSIGNMENT,
            "start", Statement.ASSIGNMENT));
    private static final WordTable<Statement> OBJECTS = WordTable.ofAnyCase(Map.of(
            "or", Statement.DEFINITION,
            "replace", Statement.DEFINITION,
            "if", Statement.DEFINITION,
            "not", Statement.DEFINITION,
            "exists", Statement.DEFINITION,
            "user", Statement.ACCOUNT,
            "role", Statement.ACCOUNT,
            "server", Statement.SERVER));

    private Statement statement;

    void reset() {
        statement = Statement.UNKNOWN;
    }

    /** Reads the next word; true when all that follows must be masked. */
    boolean masksRest(byte[] bytes, int from, int to) {
        return switch (statement) {
            case UNKNOWN -> {
                statement = of(VERBS, bytes, from, to);
                yield false;
            }
            case DEFINITION -> {
                statement = of(OBJECTS, bytes, from, to);
                yield false;
            }
            case ACCOUNT -> ByteText.equalsIgnoreCase(bytes, from, to, IDENTIFIED);
            case SERVER -> ByteText.equalsIgnoreCase(bytes, from, to, OPTIONS);
            case ASSIGNMENT -> to - from >= PASSWORD.length
                    && ByteText.startsWithIgnoreCase(bytes, to - PASSWORD.length, to, PASSWORD);
            case HARMLESS -> false;
        };
    }

    private static Statement of(WordTable<Statement> words, byte[] bytes, int from, int to) {
        Statement found = words.get(bytes, from, to);
        return found == null ? Statement.HARMLESS : found;
    }
}

package io.tailrace.fingerprint;

import io.tailrace.statement.StatementTables;
import java.util.HexFormat;
import java.util.List;

/**
 * The class of a statement, and the tables of this statement: classes omit the digits of names.
 *
 * @param fingerprint text without literals, cut at {@link Fingerprinter#MAX_TEXT_LENGTH} bytes
 * @param queryId right-most 64 bits of the MD5 of the whole fingerprint's bytes
 * @param tables what the statement does to which tables; its verb is ADMIN for an administrator command
 * @param literalsMatter whether {@link Fingerprinter#flags} may return flags for this statement
 * @param accountsMatter whether {@link Fingerprinter#accounts} may return accounts for this statement
 * @param isRenamed whether {@link Fingerprinter#previousId} may return another id
 */
public record NormalizedStatement(
        String fingerprint,
        long queryId,
        StatementTables tables,
        boolean literalsMatter,
        boolean accountsMatter,
        boolean isRenamed) {

    private static final HexFormat ID_DIGITS = HexFormat.of().withUpperCase();

    /** Returns the keyword that identifies the type of the statement, in upper case; empty if there is none. */
    public String verb() {
        return tables.verb();
    }

    public List<String> tablesRead() {
        return tables.read();
    }

    public List<String> tablesWritten() {
        return tables.written();
    }

    /** Returns the id in the form of Percona's tools: 16 upper-case hexadecimal digits. */
    public String queryIdText() {
        return ID_DIGITS.toHexDigits(queryId);
    }

    /** Returns the same class for a text that may continue. */
    NormalizedStatement withUnknownTables() {
        return new NormalizedStatement(
                fingerprint,
                queryId,
                new StatementTables(tables.verb(), tables.read(), tables.written(), false),
                literalsMatter,
                accountsMatter,
                isRenamed);
    }
}

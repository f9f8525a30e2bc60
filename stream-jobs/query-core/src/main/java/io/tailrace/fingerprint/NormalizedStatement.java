package io.tailrace.fingerprint;

import io.tailrace.statement.StatementTables;
import java.util.HexFormat;
import java.util.List;

/**
 * What all statements of one class have in common, and the tables of the one at hand: classes leave out the digits of
 * names.
 *
 * @param fingerprint text without literals, cut at {@link Fingerprinter#MAX_TEXT_LENGTH} bytes
 * @param queryId right-most 64 bits of the MD5 of the whole fingerprint's bytes
 * @param tables what the statement does to which tables; its verb is ADMIN for an administrator command
 * @param literalsMatter whether {@link Fingerprinter#flags} may tell something of the statement at hand
 * @param accountsMatter whether {@link Fingerprinter#accounts} may
 * @param isRenamed whether {@link Fingerprinter#previousId} may tell another id
 */
public record NormalizedStatement(
        String fingerprint,
        long queryId,
        StatementTables tables,
        boolean literalsMatter,
        boolean accountsMatter,
        boolean isRenamed) {

    private static final HexFormat ID_DIGITS = HexFormat.of().withUpperCase();

    /** What the statement does: a keyword in upper case, or empty where there is none. */
    public String verb() {
        return tables.verb();
    }

    public List<String> tablesRead() {
        return tables.read();
    }

    public List<String> tablesWritten() {
        return tables.written();
    }

    /** The id as Percona's tools print it: 16 upper-case hexadecimal digits. */
    public String queryIdText() {
        return ID_DIGITS.toHexDigits(queryId);
    }

    /** The same, of a text that may go on. */
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

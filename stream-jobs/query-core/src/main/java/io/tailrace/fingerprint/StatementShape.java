package io.tailrace.fingerprint;

/**
 * What all statements of one class have in common.
 *
 * @param fingerprint text without literals, cut at {@link Fingerprinter#LONGEST_TEXT} bytes
 * @param queryId right-most 64 bits of the MD5 of the whole fingerprint's bytes
 * @param verb first keyword in upper case, ADMIN for an administrator command, empty where there is none
 */
public record StatementShape(String fingerprint, long queryId, String verb) {

    /** The id as Percona's tools print it: 16 upper-case hexadecimal digits. */
    public String queryIdText() {
        return String.format("%016X", queryId);
    }
}

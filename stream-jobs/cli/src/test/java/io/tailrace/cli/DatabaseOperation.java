package io.tailrace.cli;

import java.time.Instant;
import java.util.List;

/**
 * An operation of a client, which every format can record.
 *
 * @param connection its id
 * @param statement null if the operation is not a statement
 * @param status 0 or the server's error code
 * @param reads tables that the statement reads, as {@code database.table}
 * @param writes tables that it writes
 */
record DatabaseOperation(
        Kind kind,
        Instant time,
        long connection,
        Account account,
        String database,
        String statement,
        int status,
        List<String> reads,
        List<String> writes) {

    enum Kind {
        LOGIN,
        CHANGE_OF_USER,
        STATEMENT,
        LOGOUT
    }

    /**
     * @param host the client's name; empty if the server does not resolve it. Logs with one field for name and address
     *     contain {@link #from}
     * @param address empty if the client used the socket
     */
    record Account(String user, String host, String address) {

        /** Returns the client for logs with one field for both. */
        String from() {
            return host.isEmpty() ? address : host;
        }

        boolean isLocal() {
            return address.isEmpty();
        }
    }

    boolean isLogin() {
        return kind == Kind.LOGIN || kind == Kind.CHANGE_OF_USER;
    }

    boolean failed() {
        return status != 0;
    }
}

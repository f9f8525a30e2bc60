package io.tailrace.cli;

import java.time.Instant;
import java.util.List;

/**
 * Something that a client did, as every format of log records it.
 *
 * @param connection its id
 * @param statement null of what is none
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
     * @param host the client's name; empty where the server knows none
     * @param address empty where the client came by the socket
     */
    record Account(String user, String host, String address) {

        /** What logs with one field for both write. */
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

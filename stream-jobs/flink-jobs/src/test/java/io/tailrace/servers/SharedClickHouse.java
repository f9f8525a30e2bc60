package io.tailrace.servers;

/**
 * Provides one ClickHouse for all test classes of a JVM, because its start and all migrations take seconds. A class may
 * kill it if it launches it again, and must query only rows that it can distinguish from those of other classes.
 */
public final class SharedClickHouse extends SharedServer<ClickHouseServer> {

    public SharedClickHouse() {
        super(ClickHouseServer.class, ClickHouseServer::start);
    }
}

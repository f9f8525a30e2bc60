package io.tailrace.flink.ingest;

import java.util.Locale;

/**
 * One captured plan of a topic (schemas/plan-capture.schema.json): a reusable cursor like {@link LineMessage}. Not
 * thread-safe.
 */
public final class PlanCaptureMessage {

    private static final int KNOWN_VERSION = 1;
    private static final int QUERY_ID_DIGITS = 16;
    private static final int HEXADECIMAL = 16;
    private static final double MICROS_PER_SECOND = 1e6;

    private final MessagePackReader reader = new MessagePackReader();
    private byte[] message;
    private long version;
    private String cluster;
    private String instance;
    private String product;
    private String serverVersion;
    private String database;
    private String queryId;
    private String status;
    private String error;
    private long at;
    private long micros;
    private int planFrom;
    private int planTo;

    /**
     * Reads a message.
     *
     * @return the error, without bytes of the message; empty for a valid one
     */
    public String read(byte[] value) {
        clear(value);
        int pairs = reader.readMap();
        for (int i = 0; i < pairs && !reader.failed(); i++) {
            reader.readString();
            readValue(reader.stringText());
        }
        if (reader.failed()) {
            return "expected a msgpack map of a captured plan, found something else at byte " + reader.position();
        }
        return validationError();
    }

    private void clear(byte[] value) {
        reader.reset(value);
        message = value;
        version = 0;
        cluster = "";
        instance = "";
        product = "";
        serverVersion = "";
        database = "";
        queryId = "";
        status = "";
        error = "";
        at = 0;
        micros = 0;
        planFrom = 0;
        planTo = 0;
    }

    private void readValue(String key) {
        switch (key) {
            case "v" -> version = reader.readUnsigned();
            case "cluster" -> cluster = text();
            case "instance" -> instance = text();
            case "product" -> product = text();
            case "version" -> serverVersion = text();
            case "database" -> database = text();
            case "query_id" -> queryId = text();
            case "status" -> status = text();
            case "error" -> error = text();
            case "at" -> at = reader.readSeconds();
            case "seconds" -> micros = reader.readSeconds();
            case "plan" -> readPlan();
            default -> reader.skip();
        }
    }

    private String text() {
        reader.readString();
        return reader.stringText();
    }

    private void readPlan() {
        reader.readString();
        planFrom = reader.stringFrom();
        planTo = reader.stringTo();
    }

    private String validationError() {
        if (version != KNOWN_VERSION) {
            return "expected version " + KNOWN_VERSION + " of a captured plan, found " + version;
        }
        if (instance.isEmpty() || status.isEmpty()) {
            return "instance or status is missing";
        }
        if (at <= 0) {
            return "at is missing or not a valid time";
        }
        boolean isId = queryId.length() == QUERY_ID_DIGITS
                && queryId.chars().allMatch(c -> Character.digit(c, HEXADECIMAL) >= 0);
        return isId ? "" : "expected a query_id of 16 hexadecimal digits";
    }

    public String cluster() {
        return cluster;
    }

    public String instance() {
        return instance;
    }

    /** Returns the product, such as mysql. */
    public String product() {
        return product;
    }

    /** Returns the version as the server reports it. */
    public String serverVersion() {
        return serverVersion;
    }

    /** Returns the default database of the statement; may be empty. */
    public String database() {
        return database;
    }

    public long queryId() {
        return Long.parseUnsignedLong(queryId.toUpperCase(Locale.ROOT), HEXADECIMAL);
    }

    public String status() {
        return status;
    }

    /** Returns the error, which may contain parts of the statement. */
    public String error() {
        return error;
    }

    /** Returns when EXPLAIN was run, in microseconds since 1970 UTC. */
    public long at() {
        return at;
    }

    /** Returns the duration of EXPLAIN in seconds. */
    public double seconds() {
        return micros / MICROS_PER_SECOND;
    }

    /** Returns the message, which contains the plan. */
    public byte[] bytes() {
        return message;
    }

    /** Returns the first byte of the plan, as an index of {@link #bytes()}. */
    public int planFrom() {
        return planFrom;
    }

    /** Returns the index after the plan's last byte. */
    public int planTo() {
        return planTo;
    }
}

package io.tailrace.flink.ingest;

import io.tailrace.reassembly.CensusRecord;
import io.tailrace.reassembly.LogId;

/**
 * One census record of a topic (schemas/census.schema.json): a reusable cursor like {@link LineMessage}. Not
 * thread-safe.
 */
public final class CensusMessage {

    private final MessagePackReader reader = new MessagePackReader();
    private String cluster;
    private String instance;
    private String source;
    private String path;
    private String headHash;
    private long inode;
    private long size;
    private long headLength;
    private long at;

    /**
     * Reads a message.
     *
     * @return the error, without bytes of the message; empty for a valid one
     */
    public String read(byte[] value) {
        clear();
        reader.reset(value);
        int pairs = reader.readMap();
        for (int i = 0; i < pairs && !reader.failed(); i++) {
            reader.readString();
            readValue(reader.stringText());
        }
        if (reader.failed()) {
            return "expected a msgpack map of a census, found something else at byte " + reader.position();
        }
        return missing();
    }

    private void clear() {
        cluster = null;
        instance = null;
        source = null;
        path = null;
        headHash = null;
        inode = -1;
        size = -1;
        headLength = -1;
        at = -1;
    }

    private void readValue(String key) {
        switch (key) {
            case "cluster" -> cluster = text();
            case "instance" -> instance = text();
            case "source" -> source = text();
            case "path" -> path = text();
            case "head_hash" -> headHash = text();
            case "inode" -> inode = reader.readUnsigned();
            case "size" -> size = reader.readUnsigned();
            case "head_length" -> headLength = reader.readUnsigned();
            case "at" -> at = reader.readSeconds();
            default -> reader.skip();
        }
    }

    private String text() {
        reader.readString();
        return reader.stringText();
    }

    private String missing() {
        if (cluster == null || instance == null || source == null || path == null || headHash == null) {
            return "cluster, instance, source, path or head_hash is missing";
        }
        if (instance.isEmpty() || path.isEmpty()) {
            return "instance or path is empty";
        }
        return inode < 0 || size < 0 || headLength < 0 || at < 0 ? "inode, size, head_length or at is missing" : "";
    }

    /** Returns the last record, if it was valid. */
    public CensusRecord record() {
        String key = LogId.of(instance, source, path).toKey();
        return new CensusRecord(key, cluster, instance, source, path, inode, size, (int) headLength, headHash, at);
    }
}

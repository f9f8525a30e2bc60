package io.tailrace.flink.ingest;

/**
 * One message of the topic of signed ranges: a MessagePack map with payload, key and signature. A reusable cursor like
 * {@link LineMessage}. Not thread-safe.
 */
public final class SignedPayloadMessage {

    private final MessagePackReader reader = new MessagePackReader();
    private String payload;
    private String key;
    private String signature;
    private String earlierRanges;

    /**
     * Reads a message.
     *
     * @return the error, without bytes of the message; empty for a valid one
     */
    public String read(byte[] value) {
        payload = "";
        key = "";
        signature = "";
        earlierRanges = "";
        reader.reset(value);
        int pairs = reader.readMap();
        for (int i = 0; i < pairs && !reader.failed(); i++) {
            reader.readString();
            readValue(reader.stringText());
        }
        if (reader.failed()) {
            return "expected a msgpack map of a signed range, found something else at byte " + reader.position();
        }
        return payload.isEmpty() || key.isEmpty() ? "payload or key is missing" : "";
    }

    private void readValue(String name) {
        switch (name) {
            case "payload" -> payload = text();
            case "key" -> key = text();
            case "signature" -> signature = text();
            case "earlier_ranges" -> earlierRanges = text();
            default -> reader.skip();
        }
    }

    private String text() {
        reader.readString();
        return reader.stringText();
    }

    /** Returns the JSON that was signed. */
    public String payload() {
        return payload;
    }

    /** Returns the id of the key. */
    public String key() {
        return key;
    }

    /** Returns the signature in base64. */
    public String signature() {
        return signature;
    }

    /** Returns lengths and hashes of the earlier ranges in base64; empty if there are none. */
    public String earlierRanges() {
        return earlierRanges;
    }
}

package io.tailrace.flink.detection;

import io.tailrace.flink.ingest.KafkaMessage;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/** Creates messages of captured plans, as Fluent Bit encodes them. */
public final class Captures {

    public static final double AT = 1_795_000_000.25;
    public static final String TOPIC = "tailrace.explain.lines";

    private Captures() {}

    /** Returns a valid message. */
    public static Map<String, Object> envelope(String status, String error, String plan) {
        Map<String, Object> envelope = new LinkedHashMap<>();
        envelope.put("v", 1.0);
        envelope.put("at", AT);
        envelope.put("cluster", "eu");
        envelope.put("instance", "db-1");
        envelope.put("product", "mysql");
        envelope.put("version", "8.4.3");
        envelope.put("database", "shop");
        envelope.put("query_id", "FEDCBA9876543210");
        envelope.put("status", status);
        envelope.put("error", error);
        envelope.put("plan", plan);
        envelope.put("seconds", 0.0125);
        return envelope;
    }

    public static KafkaMessage message(Map<String, Object> envelope) {
        return message(packed(envelope));
    }

    public static KafkaMessage message(byte[] value) {
        return new KafkaMessage(TOPIC, 2, 7, "db-1".getBytes(StandardCharsets.UTF_8), value);
    }

    private static byte[] packed(Map<String, Object> envelope) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeByte(0x80 | envelope.size());
            for (Map.Entry<String, Object> member : envelope.entrySet()) {
                write(member.getKey(), out);
                if (member.getKey().equals("v")) {
                    out.writeByte(((Double) member.getValue()).intValue());
                } else if (member.getValue() instanceof Double number) {
                    out.writeByte(0xCB);
                    out.writeDouble(number);
                } else {
                    write((String) member.getValue(), out);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    private static void write(String text, DataOutputStream out) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        out.writeByte(0xDB);
        out.writeInt(bytes.length);
        out.write(bytes);
    }
}

package io.tailrace.flink.ingest;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/** Encodes MessagePack maps like a collector. */
public final class MessagePack {

    private MessagePack() {}

    /** Returns the message of a line; a {@code \n} is not part of the line. */
    public static byte[] line(String path, long offset, byte[] log) {
        return map(lineMap(path, offset, log));
    }

    static Map<String, Object> lineMap(String path, long offset, byte[] log) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("@timestamp", 1_700_000_000.5);
        map.put("path", path);
        map.put("log", log);
        map.put("offset", offset);
        map.put("cluster", "shop");
        map.put("instance", "db-1");
        map.put("source", "slowlog");
        map.put("format", "auto");
        map.put("tz", "UTC");
        return map;
    }

    /** Values: String, byte[], Long, Double, Boolean. */
    public static byte[] map(Map<String, Object> values) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(0x80 | values.size());
        values.forEach((key, value) -> {
            write(out, key);
            write(out, value);
        });
        return out.toByteArray();
    }

    private static void write(ByteArrayOutputStream out, Object value) {
        if (value instanceof String text) {
            byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
            out.write(0xD9);
            out.write(utf8.length);
            out.writeBytes(utf8);
        } else if (value instanceof byte[] bytes) {
            out.write(0xC6);
            out.writeBytes(ByteBuffer.allocate(4).putInt(bytes.length).array());
            out.writeBytes(bytes);
        } else if (value instanceof Long number) {
            out.write(0xCF);
            out.writeBytes(ByteBuffer.allocate(8).putLong(number).array());
        } else if (value instanceof Double number) {
            out.write(0xCB);
            out.writeBytes(ByteBuffer.allocate(8).putDouble(number).array());
        } else {
            out.write((Boolean) value ? 0xC3 : 0xC2);
        }
    }
}

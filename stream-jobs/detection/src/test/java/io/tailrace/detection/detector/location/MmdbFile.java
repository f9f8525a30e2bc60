package io.tailrace.detection.detector.location;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes a small file in MaxMind's DB format 2.0 (https://maxmind.github.io/MaxMind-DB/): places by the first byte of
 * an IPv4 address.
 */
final class MmdbFile {

    private static final byte[] METADATA = "\u00ab\u00cd\u00efMaxMind.com".getBytes(StandardCharsets.ISO_8859_1);
    private static final int SEPARATOR = 16;
    private static final int DEPTH = 8;

    private final ByteArrayOutputStream data = new ByteArrayOutputStream();
    private final Map<Integer, Integer> offsets = new LinkedHashMap<>();

    /** Sets the place of all addresses that begin with this byte. */
    MmdbFile place(int firstByte, String city, String country, double latitude, double longitude) {
        offsets.put(firstByte, data.size());
        map(data, 3);
        text(data, "city");
        map(data, 1);
        text(data, "names");
        map(data, 1);
        text(data, "en");
        text(data, city);
        text(data, "country");
        map(data, 1);
        text(data, "iso_code");
        text(data, country);
        text(data, "location");
        map(data, 2);
        text(data, "latitude");
        number(data, latitude);
        text(data, "longitude");
        number(data, longitude);
        return this;
    }

    Path write(Path file) throws IOException {
        List<int[]> nodes = new ArrayList<>();
        nodes.add(new int[] {-1, -1});
        offsets.forEach((firstByte, offset) -> {
            int node = 0;
            for (int bit = DEPTH - 1; bit > 0; bit--) {
                int side = firstByte >> bit & 1;
                if (nodes.get(node)[side] < 0) {
                    nodes.get(node)[side] = nodes.size();
                    nodes.add(new int[] {-1, -1});
                }
                node = nodes.get(node)[side];
            }
            nodes.get(node)[firstByte & 1] = -2 - offset;
        });
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (int[] node : nodes) {
            record(out, node[0], nodes.size());
            record(out, node[1], nodes.size());
        }
        out.write(new byte[SEPARATOR]);
        data.writeTo(out);
        metadata(out, nodes.size());
        return Files.write(file, out.toByteArray());
    }

    /** Writes 24 bits: another node, nothing (the number of nodes), or a place in the data. */
    private static void record(ByteArrayOutputStream out, int value, int nodes) {
        int written = value == -1 ? nodes : value < 0 ? nodes + SEPARATOR + (-2 - value) : value;
        out.write(written >> 16);
        out.write(written >> 8);
        out.write(written);
    }

    private static void metadata(ByteArrayOutputStream out, int nodes) throws IOException {
        out.write(METADATA);
        map(out, 9);
        text(out, "binary_format_major_version");
        unsigned(out, 5, 2);
        text(out, "binary_format_minor_version");
        unsigned(out, 5, 0);
        text(out, "build_epoch");
        extended(out, 9, 4);
        integer(out, 1_700_000_000);
        text(out, "database_type");
        text(out, "Test-City");
        text(out, "description");
        map(out, 0);
        text(out, "ip_version");
        unsigned(out, 5, 4);
        text(out, "languages");
        extended(out, 11, 0);
        text(out, "node_count");
        out.write(6 << 5 | 4);
        integer(out, nodes);
        text(out, "record_size");
        unsigned(out, 5, 24);
    }

    private static void map(ByteArrayOutputStream out, int pairs) {
        out.write(7 << 5 | pairs);
    }

    private static void text(ByteArrayOutputStream out, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (bytes.length < 29) {
            out.write(2 << 5 | bytes.length);
        } else {
            out.write(2 << 5 | 29);
            out.write(bytes.length - 29);
        }
        out.writeBytes(bytes);
    }

    private static void number(ByteArrayOutputStream out, double number) {
        out.write(3 << 5 | 8);
        long bits = Double.doubleToLongBits(number);
        integer(out, (int) (bits >>> 32));
        integer(out, (int) bits);
    }

    private static void unsigned(ByteArrayOutputStream out, int type, int value) {
        out.write(type << 5 | 2);
        out.write(value >> 8);
        out.write(value);
    }

    private static void extended(ByteArrayOutputStream out, int type, int size) {
        out.write(size);
        out.write(type - 7);
    }

    private static void integer(ByteArrayOutputStream out, int value) {
        for (int shift = 24; shift >= 0; shift -= 8) {
            out.write(value >> shift);
        }
    }
}

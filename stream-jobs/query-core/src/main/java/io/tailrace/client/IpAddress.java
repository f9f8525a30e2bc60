package io.tailrace.client;

import java.util.Arrays;

/** Parses and formats IP addresses without name resolution. */
public final class IpAddress {

    private static final int V4 = 4;
    private static final int V6 = 16;
    private static final int MAX_LENGTH = 45;
    private static final byte[] MAPPED = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1};

    private IpAddress() {}

    /** Returns 4 or 16 bytes, or null if the text is not an address. */
    public static byte[] parse(String text) {
        if (text.isEmpty() || text.length() > MAX_LENGTH) {
            return null;
        }
        byte[] address = text.indexOf(':') >= 0 ? parse6(text) : parse4(text);
        boolean mapped = address != null && address.length == V6 && Arrays.equals(address, 0, 12, MAPPED, 0, 12);
        return mapped ? Arrays.copyOfRange(address, V6 - V4, V6) : address;
    }

    /** Formats an address. IPv6 follows RFC 5952: the longest run of zeros is omitted. */
    public static String format(byte[] address) {
        return address.length == V4 ? format4(address) : format6(address);
    }

    private static String format4(byte[] address) {
        return (address[0] & 255) + "." + (address[1] & 255) + '.' + (address[2] & 255) + '.' + (address[3] & 255);
    }

    private static String format6(byte[] address) {
        int gap = -1;
        int gapLength = 1;
        for (int from = 0; from < V6 / 2; from++) {
            int length = zeros(address, from);
            gap = length > gapLength ? from : gap;
            gapLength = Math.max(gapLength, length);
        }
        StringBuilder text = new StringBuilder(MAX_LENGTH);
        for (int i = 0; i < V6 / 2; i++) {
            if (i == gap) {
                text.append("::");
                i += gapLength - 1;
            } else {
                boolean first = text.isEmpty() || text.charAt(text.length() - 1) == ':';
                text.append(first ? "" : ":").append(Integer.toHexString(group(address, i)));
            }
        }
        return text.toString();
    }

    /** Returns the number of consecutive zero groups from this one on. */
    private static int zeros(byte[] address, int from) {
        int to = from;
        while (to < V6 / 2 && group(address, to) == 0) {
            to++;
        }
        return to - from;
    }

    private static int group(byte[] address, int index) {
        return (address[2 * index] & 255) << 8 | address[2 * index + 1] & 255;
    }

    private static byte[] parse4(String text) {
        byte[] address = new byte[V4];
        int at = 0;
        for (int i = 0; i < V4; i++) {
            int end = i == V4 - 1 ? text.length() : text.indexOf('.', at);
            int part = end < 0 ? -1 : number(text, at, end, 10, 3);
            if (part < 0 || part > 255) {
                return null;
            }
            address[i] = (byte) part;
            at = end + 1;
        }
        return address;
    }

    private static byte[] parse6(String text) {
        int gap = text.indexOf("::");
        if (gap < 0) {
            byte[] address = groups(text);
            return address != null && address.length == V6 ? address : null;
        }
        byte[] head = groups(text.substring(0, gap));
        byte[] tail = groups(text.substring(gap + 2));
        if (head == null || tail == null || head.length + tail.length > V6 - 2) {
            return null;
        }
        byte[] address = Arrays.copyOf(head, V6);
        System.arraycopy(tail, 0, address, V6 - tail.length, tail.length);
        return address;
    }

    /** Returns the bytes of the groups between colons; the last group may be an IPv4 address. */
    private static byte[] groups(String text) {
        byte[] bytes = new byte[V6];
        int length = 0;
        String[] groups = text.isEmpty() ? new String[0] : text.split(":", -1);
        for (int i = 0; i < groups.length; i++) {
            byte[] group = i == groups.length - 1 && groups[i].indexOf('.') >= 0 ? parse4(groups[i]) : group(groups[i]);
            if (group == null || length + group.length > V6) {
                return null;
            }
            System.arraycopy(group, 0, bytes, length, group.length);
            length += group.length;
        }
        return Arrays.copyOf(bytes, length);
    }

    private static byte[] group(String text) {
        int value = number(text, 0, text.length(), 16, 4);
        return value < 0 ? null : new byte[] {(byte) (value >> 8), (byte) value};
    }

    private static int number(String text, int from, int to, int radix, int limit) {
        if (to <= from || to - from > limit) {
            return -1;
        }
        int value = 0;
        for (int i = from; i < to; i++) {
            int digit = text.charAt(i) < 128 ? Character.digit(text.charAt(i), radix) : -1;
            if (digit < 0) {
                return -1;
            }
            value = value * radix + digit;
        }
        return value;
    }
}

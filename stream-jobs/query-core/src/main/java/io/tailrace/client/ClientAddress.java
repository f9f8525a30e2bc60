package io.tailrace.client;

/**
 * Where a client is, in one form for all logs. Servers write an address where they do not look names up, and logs have
 * one field or two for it, some with the port. {@code sql/migrations} makes the same of rows that are stored.
 *
 * @param host the host's name; empty where the log has none, an address is not one
 * @param address IPv4, also where it was mapped to IPv6, or IPv6 as in RFC 5952; empty where the log has none
 * @param port TCP port; 0 where the log has none
 */
public record ClientAddress(String host, String address, int port) {

    private static final int MAX_PORT = 65_535;
    private static final int MAX_PORT_LENGTH = 5;

    /**
     * What a log's fields for the client's host and address say together, whichever of them holds what.
     *
     * @param ip empty where the log has no such field
     */
    public static ClientAddress of(String host, String ip) {
        String address = ip.isEmpty() ? "" : canonical(ip);
        int colon = portAt(host);
        String name = unbracketed(colon < 0 ? host : host.substring(0, colon));
        byte[] bytes = mayBeAddress(name) ? IpAddress.parse(name) : null;
        int port = colon < 0 ? 0 : Integer.parseInt(host, colon + 1, host.length(), 10);
        if (bytes == null) {
            return new ClientAddress(port > 0 ? name : host, address, port);
        }
        return new ClientAddress("", address.isEmpty() ? canonical(name) : address, port);
    }

    /** One form of an address; a text that is none stays as it is. */
    private static String canonical(String text) {
        String plain = unbracketed(text);
        byte[] address = IpAddress.parse(plain);
        return address == null ? text : plain.indexOf(':') < 0 ? plain : IpAddress.format(address);
    }

    private static String unbracketed(String text) {
        boolean bracketed = text.length() > 2 && text.startsWith("[") && text.endsWith("]");
        return bracketed ? text.substring(1, text.length() - 1) : text;
    }

    /** Hosts' names begin with a letter, but those that look like the head of an IPv6 address. */
    private static boolean mayBeAddress(String text) {
        return !text.isEmpty() && (Character.digit(text.charAt(0), 16) >= 0 || text.charAt(0) == ':');
    }

    /** Index of the colon before a port, or -1: an IPv6 address holds several, and with a port stands in brackets. */
    private static int portAt(String host) {
        int colon = host.lastIndexOf(':');
        boolean single = colon > 0 && (host.indexOf(':') == colon || host.charAt(colon - 1) == ']');
        return single && isPort(host, colon + 1) ? colon : -1;
    }

    private static boolean isPort(String host, int from) {
        int length = host.length() - from;
        if (length < 1 || length > MAX_PORT_LENGTH) {
            return false;
        }
        int port = 0;
        for (int i = from; i < host.length(); i++) {
            char c = host.charAt(i);
            if (c < '0' || c > '9') {
                return false;
            }
            port = port * 10 + c - '0';
        }
        return port > 0 && port <= MAX_PORT;
    }
}

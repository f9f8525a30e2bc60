package io.tailrace.client;

/**
 * The address of a client, normalized for all logs. Servers write an address if they do not resolve names; logs have
 * one or two fields for it, some with the port. {@code sql/migrations} normalizes stored rows in the same way.
 *
 * @param host the host name; empty if the log has none; never an address
 * @param address IPv4, also if it was mapped to IPv6, or IPv6 as in RFC 5952; empty if the log has none
 * @param port TCP port; 0 if the log has none
 */
public record ClientAddress(String host, String address, int port) {

    private static final int MAX_PORT = 65_535;
    private static final int MAX_PORT_LENGTH = 5;

    /**
     * Combines a log's fields for the client's host and address, whichever of them contains which.
     *
     * @param ip empty if the log has no such field
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

    /** Returns the normalized form of an address, or the text itself if it is not an address. */
    private static String canonical(String text) {
        String plain = unbracketed(text);
        byte[] address = IpAddress.parse(plain);
        return address == null ? text : plain.indexOf(':') < 0 ? plain : IpAddress.format(address);
    }

    private static String unbracketed(String text) {
        boolean bracketed = text.length() > 2 && text.startsWith("[") && text.endsWith("]");
        return bracketed ? text.substring(1, text.length() - 1) : text;
    }

    /**
     * Returns whether the text may be an address. Host names begin with a letter, except those that resemble the
     * start of an IPv6 address.
     */
    private static boolean mayBeAddress(String text) {
        return !text.isEmpty() && (Character.digit(text.charAt(0), 16) >= 0 || text.charAt(0) == ':');
    }

    /**
     * Returns the index of the colon before a port, or -1. An IPv6 address contains several colons and is enclosed in
     * brackets if a port follows.
     */
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

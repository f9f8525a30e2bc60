package io.tailrace.detection.detector.location;

import io.tailrace.client.IpAddress;
import io.tailrace.detection.detector.DetectorOptions;
import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * Converts a client's address to its network, because clients often get new addresses in the same network. A host name
 * remains unchanged.
 *
 * @param ipv4Prefix prefix length of an IPv4 network in bits
 * @param ipv6Prefix prefix length of an IPv6 network in bits
 */
public record ClientNetwork(int ipv4Prefix, int ipv6Prefix) {

    /** Name of clients on the server's own machine. */
    public static final String LOCAL = "localhost";

    private static final int BITS = 8;
    private static final int IPV4 = 4;

    public static ClientNetwork of(DetectorOptions settings, int ipv4Prefix, int ipv6Prefix) {
        return new ClientNetwork(
                settings.whole("ipv4_prefix", ipv4Prefix, 8, 32), settings.whole("ipv6_prefix", ipv6Prefix, 16, 128));
    }

    /** Returns the network of a client; one name for all addresses of the server's own machine. */
    public String ofClient(String host) {
        byte[] address = IpAddress.parse(host);
        boolean local = address == null ? LOCAL.equalsIgnoreCase(host) : isLoopback(address);
        return local ? LOCAL : of(host);
    }

    private static boolean isLoopback(byte[] address) {
        try {
            return InetAddress.getByAddress(address).isLoopbackAddress();
        } catch (UnknownHostException e) {
            throw new IllegalStateException("an address has 4 or 16 bytes", e);
        }
    }

    /** Returns the network of an address, such as 10.0.3.0/24. */
    public String of(String host) {
        byte[] address = IpAddress.parse(host);
        if (address == null) {
            return host;
        }
        int prefix = address.length == IPV4 ? ipv4Prefix : ipv6Prefix;
        for (int i = 0; i < address.length; i++) {
            int bits = Math.max(0, Math.min(BITS, prefix - i * BITS));
            address[i] &= (byte) (0xff << BITS - bits);
        }
        return text(address) + '/' + prefix;
    }

    private static String text(byte[] address) {
        try {
            return InetAddress.getByAddress(address).getHostAddress();
        } catch (UnknownHostException e) {
            throw new IllegalStateException("an address has 4 or 16 bytes", e);
        }
    }
}

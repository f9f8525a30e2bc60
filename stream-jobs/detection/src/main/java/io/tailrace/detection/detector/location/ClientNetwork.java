package io.tailrace.detection.detector.location;

import io.tailrace.client.IpAddress;
import io.tailrace.detection.detector.DetectorOptions;
import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * The network of a client's address; a name stands for itself. Clients get new addresses all the time, from the same
 * networks.
 *
 * @param ipv4Prefix bits that make an IPv4 network
 * @param ipv6Prefix bits that make an IPv6 network
 */
public record ClientNetwork(int ipv4Prefix, int ipv6Prefix) {

    /** Clients on the server's own machine. */
    public static final String LOCAL = "localhost";

    private static final int BITS = 8;
    private static final int IPV4 = 4;

    public static ClientNetwork of(DetectorOptions settings, int ipv4Prefix, int ipv6Prefix) {
        return new ClientNetwork(
                settings.whole("ipv4_prefix", ipv4Prefix, 8, 32), settings.whole("ipv6_prefix", ipv6Prefix, 16, 128));
    }

    /** The network of a client; one name for all addresses of the server's own machine. */
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

    /** Such as 10.0.3.0/24. */
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

package io.tailrace.detection.match;

import io.tailrace.client.IpAddress;
import io.tailrace.detection.event.FieldValue;
import java.util.Optional;

/** Matches an IP address in a network. IPv4 addresses mapped to IPv6 are IPv4 addresses. */
public final class CidrMatcher implements ValueMatcher {

    private static final int BITS = 8;

    private final byte[] address;
    private final int prefix;

    private CidrMatcher(byte[] address, int prefix) {
        this.address = address;
        this.prefix = prefix;
    }

    /**
     * Parses CIDR notation, such as 10.0.0.0/8 or fe80::/10; an address alone is a network of one address.
     *
     * @return empty if the text is not a network, or if bits are set behind the prefix
     */
    public static Optional<CidrMatcher> of(String text) {
        int slash = text.indexOf('/');
        byte[] address = IpAddress.parse(slash < 0 ? text : text.substring(0, slash));
        if (address == null) {
            return Optional.empty();
        }
        int prefix = slash < 0 ? address.length * BITS : prefix(text.substring(slash + 1));
        boolean fits = prefix >= 0 && prefix <= address.length * BITS;
        return fits && isClear(address, prefix) ? Optional.of(new CidrMatcher(address, prefix)) : Optional.empty();
    }

    private static int prefix(String text) {
        boolean digits = !text.isEmpty() && text.length() <= 3 && text.chars().allMatch(c -> c >= '0' && c <= '9');
        return digits ? Integer.parseInt(text) : -1;
    }

    private static boolean isClear(byte[] address, int prefix) {
        for (int bit = prefix; bit < address.length * BITS; bit++) {
            if ((address[bit / BITS] & 0x80 >> bit % BITS) != 0) {
                return false;
            }
        }
        return true;
    }

    @Override
    public boolean test(FieldValue value) {
        byte[] candidate = IpAddress.parse(value.text());
        return candidate != null && candidate.length == address.length && shares(candidate);
    }

    private boolean shares(byte[] candidate) {
        int whole = prefix / BITS;
        for (int i = 0; i < whole; i++) {
            if (candidate[i] != address[i]) {
                return false;
            }
        }
        int rest = prefix % BITS;
        return rest == 0 || (candidate[whole] ^ address[whole]) >> BITS - rest == 0;
    }
}

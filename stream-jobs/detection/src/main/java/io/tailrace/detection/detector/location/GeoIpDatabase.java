package io.tailrace.detection.detector.location;

import com.maxmind.db.Reader;
import io.tailrace.client.IpAddress;
import io.tailrace.detection.event.BoundedText;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.util.Map;
import java.util.Optional;

/** Maps addresses to places with a file in MaxMind's DB format that the user supplies. The file is read into memory. */
public final class GeoIpDatabase {

    private final Reader reader;

    private GeoIpDatabase(Reader reader) {
        this.reader = reader;
    }

    /** Throws IOException if the file cannot be read or has another format. */
    public static GeoIpDatabase of(File file) throws IOException {
        return new GeoIpDatabase(new Reader(file, Reader.FileMode.MEMORY));
    }

    /** Returns the place of an address; empty if the file does not contain it, or if the text is not an address. */
    public Optional<GeoLocation> of(String ip) {
        byte[] address = IpAddress.parse(ip);
        if (address == null) {
            return Optional.empty();
        }
        try {
            Map<?, ?> found = reader.get(InetAddress.getByAddress(address), Map.class);
            return found == null ? Optional.empty() : place(found);
        } catch (IOException e) {
            // The file is damaged at this address, so its place is unknown.
            return Optional.empty();
        }
    }

    private static Optional<GeoLocation> place(Map<?, ?> found) {
        Map<?, ?> location = map(found.get("location"));
        if (!(location.get("latitude") instanceof Number latitude)
                || !(location.get("longitude") instanceof Number longitude)) {
            return Optional.empty();
        }
        String city = text(map(map(found.get("city")).get("names")).get("en"));
        String country = text(map(found.get("country")).get("iso_code"));
        String label = city.isEmpty() ? country : city + ", " + country;
        String known = label.isEmpty() ? latitude + " " + longitude : label;
        return Optional.of(new GeoLocation(BoundedText.of(known), latitude.doubleValue(), longitude.doubleValue()));
    }

    private static Map<?, ?> map(Object value) {
        return value instanceof Map<?, ?> map ? map : Map.of();
    }

    private static String text(Object value) {
        return value instanceof String text ? text : "";
    }
}

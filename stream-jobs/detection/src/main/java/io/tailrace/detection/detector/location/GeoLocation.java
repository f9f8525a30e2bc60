package io.tailrace.detection.detector.location;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * The place of a client.
 *
 * @param label display name: a city and country, or a network
 * @param latitude degrees; NaN if only the network is known
 * @param longitude degrees; NaN if only the network is known
 */
public record GeoLocation(String label, double latitude, double longitude) {

    private static final double EARTH_RADIUS_KM = 6371;

    public static GeoLocation network(String network) {
        return new GeoLocation(network, Double.NaN, Double.NaN);
    }

    /** Returns the great-circle distance in kilometres (haversine); NaN if only the network of a place is known. */
    double kilometresTo(GeoLocation other) {
        double north = Math.toRadians(other.latitude - latitude) / 2;
        double east = Math.toRadians(other.longitude - longitude) / 2;
        double square = Math.pow(Math.sin(north), 2)
                + Math.cos(Math.toRadians(latitude))
                        * Math.cos(Math.toRadians(other.latitude))
                        * Math.pow(Math.sin(east), 2);
        return 2 * EARTH_RADIUS_KM * Math.asin(Math.min(1, Math.sqrt(square)));
    }

    void write(DataOutput out) throws IOException {
        out.writeUTF(label);
        out.writeDouble(latitude);
        out.writeDouble(longitude);
    }

    static GeoLocation read(DataInput in) throws IOException {
        return new GeoLocation(in.readUTF(), in.readDouble(), in.readDouble());
    }
}

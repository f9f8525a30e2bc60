package io.tailrace.detection.detector.firstseen;

import io.tailrace.detection.detector.DetectorOptions;
import java.util.concurrent.TimeUnit;

/**
 * Limits of learning and of alerts.
 *
 * @param micros longest time of learning, microseconds
 * @param settleMicros time of activity without a new value that ends learning, microseconds
 * @param maxValues number of values from which on an entity has no stable behaviour and causes no alerts
 * @param maxPerDay maximum number of alerts of an entity per day, and the same number for events that touch data
 *     classes
 */
public record Learning(long micros, long settleMicros, int maxValues, int maxPerDay) {

    public static Learning of(DetectorOptions settings, int maxValues) {
        return of(settings, maxValues, 4);
    }

    /** @param settling default of the settling period, days */
    public static Learning of(DetectorOptions settings, int maxValues, int settling) {
        return new Learning(
                settings.days("learning", 14),
                settings.days("settling_period", settling),
                settings.whole("max_values", maxValues, 1, 10_000),
                settings.whole("max_alerts_per_day", 3, 1, 1_000));
    }

    /** Returns the longest time of learning in full days. */
    int days() {
        return (int) TimeUnit.MICROSECONDS.toDays(micros);
    }
}

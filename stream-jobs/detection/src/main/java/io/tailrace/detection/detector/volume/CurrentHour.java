package io.tailrace.detection.detector.volume;

import io.tailrace.detection.detector.AlertSample;
import io.tailrace.detection.detector.Observation;
import io.tailrace.detection.detector.StoredSample;
import io.tailrace.detection.detector.firstseen.ExpiringValueSet;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** An hour whose total is still counted exactly, with the events that contributed most to it. */
final class CurrentHour {

    private static final int MAX_EVIDENCE = 3;

    private final int hour;
    private final HourlyBaseline baseline;
    private final CardinalityEstimator distinct;
    private final List<Weighed> largest = new ArrayList<>(MAX_EVIDENCE);
    private double total;
    private boolean fired;

    private record Weighed(double amount, StoredSample evidence) {}

    CurrentHour(int hour, HourlyBaseline baseline, double total) {
        this(hour, baseline, total, new CardinalityEstimator());
    }

    private CurrentHour(int hour, HourlyBaseline baseline, double total, CardinalityEstimator distinct) {
        this.hour = hour;
        this.baseline = baseline;
        this.total = total;
        this.distinct = distinct;
    }

    int hour() {
        return hour;
    }

    HourlyBaseline baseline() {
        return baseline;
    }

    double total() {
        return total;
    }

    /** Adds an amount. */
    void add(Observation observation) {
        total += observation.amount();
        weigh(observation, observation.amount());
    }

    /** Adds texts that count once each. */
    void addDistinct(Observation observation) {
        int added = 0;
        for (String value : observation.values()) {
            added += distinct.add(ExpiringValueSet.hash(value)) ? 1 : 0;
        }
        if (added > 0) {
            total = Math.max(total, Math.rint(distinct.estimate()));
            weigh(observation, added);
        }
    }

    private void weigh(Observation observation, double amount) {
        if (largest.size() == MAX_EVIDENCE && largest.get(MAX_EVIDENCE - 1).amount >= amount) {
            return;
        }
        int place = largest.size();
        while (place > 0 && largest.get(place - 1).amount < amount) {
            place--;
        }
        largest.add(
                place,
                new Weighed(amount, StoredSample.of(AlertSample.of(observation).shortened())));
        if (largest.size() > MAX_EVIDENCE) {
            largest.remove(MAX_EVIDENCE);
        }
    }

    /** Returns whether the total has just become unusual. */
    boolean fires() {
        if (fired || total <= baseline.threshold()) {
            return false;
        }
        fired = true;
        return true;
    }

    List<AlertSample> evidence() {
        return new ArrayList<>(
                largest.stream().map(weighed -> weighed.evidence.sample()).toList());
    }

    void write(DataOutput out) throws IOException {
        out.writeInt(hour);
        baseline.write(out);
        out.writeDouble(total);
        distinct.write(out);
        out.writeBoolean(fired);
        out.writeByte(largest.size());
        for (Weighed weighed : largest) {
            out.writeDouble(weighed.amount);
            weighed.evidence.write(out);
        }
    }

    static CurrentHour read(DataInput in) throws IOException {
        CurrentHour open =
                new CurrentHour(in.readInt(), HourlyBaseline.read(in), in.readDouble(), CardinalityEstimator.read(in));
        open.fired = in.readBoolean();
        for (int left = in.readByte(); left > 0; left--) {
            open.largest.add(new Weighed(in.readDouble(), StoredSample.read(in)));
        }
        return open;
    }
}

package io.tailrace.detection.detector.firstseen;

import io.tailrace.detection.event.BoundedText;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Counts the new values of an entity within a day. One alert for each would be too many, but a few decoys must not hide
 * the others. Events that touch data classes are counted separately and named first.
 */
final class DailyNoveltyCounter {

    private static final int MAX_NAMED = 8;
    private static final int MAX_NAME_LENGTH = 64;

    private final int day;
    private final Part sensitive = new Part();
    private final Part others = new Part();

    /** @param day since 1970 */
    DailyNoveltyCounter(int day) {
        this.day = day;
    }

    int day() {
        return day;
    }

    /** Returns the number of new values. */
    int values() {
        return sensitive.values + others.values;
    }

    /**
     * Counts the new values of an event.
     *
     * @param limit number of events of each kind that each cause an alert
     * @return whether an alert is due: beyond the limit whenever the number of events doubles, and immediately for the
     *     first
     */
    boolean add(List<String> values, boolean isSensitive, int limit) {
        return (isSensitive ? sensitive : others).add(values, limit);
    }

    /** Adds the summary of the day to the facts of an alert, if there was more than one value. */
    void describe(Map<String, String> facts) {
        if (values() < 2) {
            return;
        }
        facts.put("new_today", Integer.toString(values()));
        if (sensitive.values > 0) {
            facts.put("new_today_sensitive", Integer.toString(sensitive.values));
        }
        List<String> names =
                Stream.concat(sensitive.names.stream(), others.names.stream()).toList();
        int unnamed = values() - names.size();
        facts.put("new_today_names", String.join(", ", names) + (unnamed > 0 ? " and " + unnamed + " more" : ""));
    }

    void write(DataOutput out) throws IOException {
        out.writeBoolean(values() > 0);
        if (values() > 0) {
            out.writeInt(day);
            sensitive.write(out);
            others.write(out);
        }
    }

    static DailyNoveltyCounter read(DataInput in) throws IOException {
        if (!in.readBoolean()) {
            return new DailyNoveltyCounter(0);
        }
        DailyNoveltyCounter read = new DailyNoveltyCounter(in.readInt());
        read.sensitive.read(in);
        read.others.read(in);
        return read;
    }

    /** Reads the first version of the state, which contained the number of alerts only. */
    static DailyNoveltyCounter readFirstVersion(DataInput in) throws IOException {
        DailyNoveltyCounter read = new DailyNoveltyCounter(in.readInt());
        read.others.events = in.readInt();
        read.others.values = read.others.events;
        return read;
    }

    private static final class Part {

        private int events;
        private int values;
        private final List<String> names = new ArrayList<>(0);

        boolean add(List<String> more, int limit) {
            events++;
            values += more.size();
            for (int i = 0; i < more.size() && names.size() < MAX_NAMED; i++) {
                names.add(shortened(more.get(i)));
            }
            int beyond = events - limit;
            return beyond <= 0 || Integer.bitCount(beyond) == 1;
        }

        private static String shortened(String name) {
            return name.length() <= MAX_NAME_LENGTH
                    ? name
                    : BoundedText.of(name).substring(0, MAX_NAME_LENGTH) + "…";
        }

        void write(DataOutput out) throws IOException {
            out.writeInt(events);
            if (events > 0) {
                out.writeInt(values);
                out.writeInt(names.size());
                for (String name : names) {
                    out.writeUTF(name);
                }
            }
        }

        void read(DataInput in) throws IOException {
            events = in.readInt();
            values = events > 0 ? in.readInt() : 0;
            for (int count = events > 0 ? in.readInt() : 0; count > 0; count--) {
                names.add(in.readUTF());
            }
        }
    }
}

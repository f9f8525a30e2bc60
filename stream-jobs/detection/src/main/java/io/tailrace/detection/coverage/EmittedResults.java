package io.tailrace.detection.coverage;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;

/**
 * The results that were emitted for one log: for each rule a hash of its result and the time of its last change, in
 * microseconds since 1970 UTC. Immutable.
 *
 * <p>An engine with thousands of servers has millions of results, and most servers have the same ones. Therefore keys and
 * hashes are shared: a log takes memory of its own only for the times, of which there is usually one.
 */
final class EmittedResults {

    /** One result. */
    record Result(long hash, long changedAt) {}

    static final EmittedResults NONE = new EmittedResults(new String[0], new long[0], new long[0]);

    private static final int UUID_LENGTH = 36;
    private static final SharedArrays<String[]> KEYS = new SharedArrays<>(Arrays::hashCode, Arrays::equals);
    private static final SharedArrays<long[]> HASHES = new SharedArrays<>(Arrays::hashCode, Arrays::equals);

    /** In ascending order. */
    private final String[] keys;

    private final long[] hashes;
    /** One time for all rules, or one for each. */
    private final long[] changedAt;

    private EmittedResults(String[] keys, long[] hashes, long[] changedAt) {
        this.keys = keys;
        this.hashes = hashes;
        this.changedAt = changedAt;
    }

    /** Takes the results by the keys of their rules. */
    static EmittedResults of(SortedMap<String, Result> results) {
        long[] hashes = results.values().stream().mapToLong(Result::hash).toArray();
        long[] times = results.values().stream().mapToLong(Result::changedAt).toArray();
        String[] keys = results.keySet().toArray(String[]::new);
        return new EmittedResults(KEYS.shared(keys), HASHES.shared(hashes), compact(times));
    }

    private static long[] compact(long[] times) {
        boolean allSame = times.length > 0 && Arrays.stream(times).allMatch(time -> time == times[0]);
        return allSame ? new long[] {times[0]} : times;
    }

    boolean isEmpty() {
        return keys.length == 0;
    }

    /** Returns the result of a rule; null if none was emitted. */
    Result get(String key) {
        int at = Arrays.binarySearch(keys, key);
        return at < 0 ? null : new Result(hashes[at], changedAt(at));
    }

    private long changedAt(int at) {
        return changedAt[changedAt.length == 1 ? 0 : at];
    }

    /** Returns the keys of the rules, in ascending order. */
    Iterable<String> keys() {
        return Arrays.asList(keys);
    }

    /** Writes the results of all logs of a server. Keys that equal those of the log before are not repeated. */
    static void write(Map<String, EmittedResults> logs, DataOutput out) throws IOException {
        out.writeInt(logs.size());
        String[] before = NONE.keys;
        for (Map.Entry<String, EmittedResults> log : logs.entrySet()) {
            out.writeUTF(log.getKey());
            EmittedResults results = log.getValue();
            boolean isSame = Arrays.equals(results.keys, before);
            out.writeBoolean(isSame);
            if (!isSame) {
                writeKeys(results.keys, out);
            }
            before = results.keys;
            writeLongs(results.hashes, out);
            writeLongs(results.changedAt, out);
        }
    }

    /** Reads the output of {@link #write}. */
    static Map<String, EmittedResults> read(DataInput in) throws IOException {
        Map<String, EmittedResults> logs = new TreeMap<>();
        String[] keys = NONE.keys;
        for (int count = in.readInt(); count > 0; count--) {
            String log = in.readUTF();
            if (!in.readBoolean()) {
                keys = KEYS.shared(readKeys(in));
            }
            logs.put(log, new EmittedResults(keys, HASHES.shared(readLongs(in)), readLongs(in)));
        }
        return logs;
    }

    /** Most keys are UUIDs, which take 16 bytes instead of 36. */
    private static void writeKeys(String[] keys, DataOutput out) throws IOException {
        out.writeInt(keys.length);
        for (String key : keys) {
            UUID uuid = uuid(key);
            out.writeBoolean(uuid != null);
            if (uuid != null) {
                out.writeLong(uuid.getMostSignificantBits());
                out.writeLong(uuid.getLeastSignificantBits());
            } else {
                byte[] text = key.getBytes(StandardCharsets.UTF_8);
                out.writeInt(text.length);
                out.write(text);
            }
        }
    }

    private static String[] readKeys(DataInput in) throws IOException {
        String[] keys = new String[in.readInt()];
        for (int at = 0; at < keys.length; at++) {
            if (in.readBoolean()) {
                keys[at] = new UUID(in.readLong(), in.readLong()).toString();
            } else {
                byte[] text = new byte[in.readInt()];
                in.readFully(text);
                keys[at] = new String(text, StandardCharsets.UTF_8);
            }
        }
        return keys;
    }

    /** Returns null for a text that is not the one form in which {@link UUID#toString} writes a UUID. */
    private static UUID uuid(String key) {
        if (key.length() != UUID_LENGTH) {
            return null;
        }
        try {
            UUID uuid = UUID.fromString(key);
            return uuid.toString().equals(key) ? uuid : null;
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    private static void writeLongs(long[] values, DataOutput out) throws IOException {
        out.writeInt(values.length);
        for (long value : values) {
            out.writeLong(value);
        }
    }

    private static long[] readLongs(DataInput in) throws IOException {
        long[] values = new long[in.readInt()];
        for (int at = 0; at < values.length; at++) {
            values[at] = in.readLong();
        }
        return values;
    }
}

package io.tailrace.detection.coverage;

import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.sigma.rule.RuleHeader;
import io.tailrace.identity.Murmur3;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * The contents of the logs of one server and the coverage results that were emitted for it: which rules can fire there.
 * An engine keeps this state per server. Not thread-safe.
 *
 * <p>Fields that no event has had for long are forgotten, so a server whose audit log was switched off loses the fields
 * of that log. The contents of the current and of the previous period are stored, and both count.
 *
 * <p>Memory: two {@link ObservedFields} per log, about 3 kB each, and {@link EmittedResults} for each log and for all logs
 * together.
 */
public final class InstanceCoverage {

    /** Represents all logs of the server together. */
    public static final String ALL_LOGS = "";

    private static final byte VERSION = 2;
    /** The first layout: each result has the key of its rule, and hashes contain the cluster. */
    private static final byte WITH_KEYS = 1;

    private static final Comparator<LogSource> BY_NAME = Comparator.comparing(LogSource::service)
            .thenComparing(LogSource::category)
            .thenComparing(LogSource::product);

    private final Map<LogSource, ObservedFields> current = new TreeMap<>(BY_NAME);
    private final Map<LogSource, ObservedFields> before = new TreeMap<>(BY_NAME);
    private final Map<String, EmittedResults> emitted = new TreeMap<>();

    private String cluster = "";
    /** The cluster with which the results were emitted. */
    private String emittedCluster = "";
    /** Whether the hashes contain the cluster, as those of the first layout do. */
    private boolean hasClusterInHashes;

    private long periodFrom;
    private long refreshAt;
    private long latestMicros;

    /**
     * A result to be written.
     *
     * @param log service of the log; {@link #ALL_LOGS}
     * @param ruleKey key of the rule in alerts
     * @param answer null if there is no result any longer: the rule is not active, or the log is forgotten
     * @param changedAt time of the last change, microseconds since 1970 UTC
     * @param reportedAt time of this report, later than all earlier ones, microseconds since 1970 UTC
     */
    public record ObservedLog(String log, String ruleKey, RuleCoverageResult answer, long changedAt, long reportedAt) {}

    /** Starts with a new period. */
    public InstanceCoverage(long nowMillis) {
        this.periodFrom = nowMillis;
    }

    /**
     * Adds the observed fields of a log.
     *
     * @return whether results may have changed
     */
    public boolean add(String itsCluster, LogSource log, ObservedFields part) {
        boolean isNew = !itsCluster.equals(cluster);
        cluster = itsCluster;
        ObservedFields known = before.get(log);
        boolean wasKnown = known != null && !copyOf(known).addAll(part);
        boolean isNewNow =
                current.computeIfAbsent(log, any -> new ObservedFields()).addAll(part);
        return isNew || isNewNow && !wasKnown;
    }

    private static ObservedFields copyOf(ObservedFields contents) {
        ObservedFields copy = new ObservedFields();
        copy.addAll(contents);
        return copy;
    }

    /** Returns the cluster of the server; empty if unknown. */
    public String cluster() {
        return cluster;
    }

    /** Returns the start of the current period, in milliseconds since 1970 UTC. */
    public long periodFrom() {
        return periodFrom;
    }

    /** Returns when delayed results are due, in milliseconds since 1970 UTC; 0 if none are delayed. */
    public long refreshAt() {
        return refreshAt;
    }

    /** Delays results until a time in milliseconds since 1970 UTC; 0 ends the delay. */
    public void refreshAt(long millis) {
        refreshAt = millis;
    }

    /**
     * Starts a new period and forgets fields that were not seen in the one that ends. The caller then emits all results
     * again.
     */
    public void endPeriod(long nowMillis) {
        before.clear();
        before.putAll(current);
        current.clear();
        periodFrom = nowMillis;
    }

    /** Returns whether no fields are known and no emitted result is valid. */
    public boolean isEmpty() {
        return current.isEmpty() && before.isEmpty() && emitted.isEmpty();
    }

    /**
     * Emits the results that have changed since the last call.
     *
     * @param refresh also emit results that have not changed
     * @param nowMicros the caller's clock, microseconds since 1970 UTC
     */
    public void changedResults(RuleCoverageAnswers source, boolean refresh, long nowMicros, Consumer<ObservedLog> out) {
        latestMicros = Math.max(nowMicros, latestMicros + 1);
        Map<LogSource, ObservedFields> logs = contents();
        Map<String, List<RuleCoverageResult>> answers = new HashMap<>();
        logs.forEach((log, has) -> answers.put(log.service(), source.of(Map.of(log, has))));
        if (!logs.isEmpty()) {
            answers.put(ALL_LOGS, source.of(logs));
        }
        Set<String> known = new HashSet<>(emitted.keySet());
        known.addAll(answers.keySet());
        known.forEach(log -> changedResults(log, answers.getOrDefault(log, List.of()), refresh, out));
        emittedCluster = cluster;
        hasClusterInHashes = false;
    }

    private Map<LogSource, ObservedFields> contents() {
        Map<LogSource, ObservedFields> logs = new TreeMap<>(BY_NAME);
        before.forEach((log, has) -> logs.put(log, copyOf(has)));
        current.forEach((log, has) ->
                logs.computeIfAbsent(log, any -> new ObservedFields()).addAll(has));
        return logs;
    }

    private void changedResults(
            String log, List<RuleCoverageResult> answers, boolean refresh, Consumer<ObservedLog> out) {
        EmittedResults old = emitted.getOrDefault(log, EmittedResults.NONE);
        SortedMap<String, EmittedResults.Result> now = new TreeMap<>();
        for (RuleCoverageResult answer : answers) {
            String key = answer.rule().key();
            EmittedResults.Result earlier = old.get(key);
            boolean isSame = earlier != null && isSame(earlier, answer);
            long changedAt = isSame ? earlier.changedAt() : latestMicros;
            EmittedResults.Result its = new EmittedResults.Result(hash("", answer), changedAt);
            now.put(key, its);
            if (refresh || !isSame) {
                out.accept(new ObservedLog(log, key, answer, its.changedAt(), latestMicros));
            }
        }
        for (String key : old.keys()) {
            if (!now.containsKey(key)) {
                out.accept(new ObservedLog(log, key, null, latestMicros, latestMicros));
            }
        }
        if (now.isEmpty()) {
            emitted.remove(log);
        } else {
            emitted.put(log, EmittedResults.of(now));
        }
    }

    private boolean isSame(EmittedResults.Result earlier, RuleCoverageResult answer) {
        return hasClusterInHashes
                ? earlier.hash() == hash(cluster, answer)
                : cluster.equals(emittedCluster) && earlier.hash() == hash("", answer);
    }

    /** Hashes of the present layout are without the cluster, so that they are the same for all servers. */
    private static long hash(String cluster, RuleCoverageResult answer) {
        RuleHeader rule = answer.rule();
        List<String> texts =
                new ArrayList<>(List.of(cluster, rule.title(), rule.level().name()));
        texts.add(String.join(",", rule.tags()));
        answer.obstacle().ifPresent(obstacle -> {
            texts.add(obstacle.reason());
            texts.add(String.join(",", obstacle.missingFields()));
            texts.add(String.join(",", obstacle.missingClasses()));
        });
        Murmur3 hash = new Murmur3();
        texts.forEach(text -> hash.update(text).update("\n"));
        return ByteBuffer.wrap(hash.digest()).getLong();
    }

    /** Writes the state, beginning with its version. */
    public void write(DataOutput out) throws IOException {
        out.writeByte(VERSION);
        writeText(cluster, out);
        writeText(emittedCluster, out);
        out.writeBoolean(hasClusterInHashes);
        out.writeLong(periodFrom);
        out.writeLong(refreshAt);
        out.writeLong(latestMicros);
        write(current, out);
        write(before, out);
        EmittedResults.write(emitted, out);
    }

    private static void write(Map<LogSource, ObservedFields> logs, DataOutput out) throws IOException {
        out.writeInt(logs.size());
        for (Map.Entry<LogSource, ObservedFields> log : logs.entrySet()) {
            writeText(log.getKey().category(), out);
            writeText(log.getKey().product(), out);
            writeText(log.getKey().service(), out);
            log.getValue().write(out);
        }
    }

    /** Reads the output of {@link #write}. */
    public static InstanceCoverage read(DataInput in) throws IOException {
        byte version = in.readByte();
        if (version != VERSION && version != WITH_KEYS) {
            throw new IOException("expected coverage of a server of version " + VERSION + ", found " + version);
        }
        InstanceCoverage coverage = new InstanceCoverage(0);
        coverage.cluster = readText(in);
        coverage.emittedCluster = version == VERSION ? readText(in) : coverage.cluster;
        coverage.hasClusterInHashes = version == WITH_KEYS || in.readBoolean();
        coverage.periodFrom = in.readLong();
        coverage.refreshAt = in.readLong();
        coverage.latestMicros = in.readLong();
        read(coverage.current, in);
        read(coverage.before, in);
        coverage.emitted.putAll(version == VERSION ? EmittedResults.read(in) : readWithKeys(in));
        return coverage;
    }

    private static Map<String, EmittedResults> readWithKeys(DataInput in) throws IOException {
        Map<String, EmittedResults> logs = new TreeMap<>();
        for (int count = in.readInt(); count > 0; count--) {
            String log = readText(in);
            SortedMap<String, EmittedResults.Result> rules = new TreeMap<>();
            for (int left = in.readInt(); left > 0; left--) {
                rules.put(readText(in), new EmittedResults.Result(in.readLong(), in.readLong()));
            }
            logs.put(log, EmittedResults.of(rules));
        }
        return logs;
    }

    private static void read(Map<LogSource, ObservedFields> logs, DataInput in) throws IOException {
        for (int count = in.readInt(); count > 0; count--) {
            LogSource log = new LogSource(readText(in), readText(in), readText(in));
            logs.put(log, ObservedFields.read(in));
        }
    }

    /** Writes a text of any length, because titles of rules are keys, too. */
    private static void writeText(String text, DataOutput out) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    private static String readText(DataInput in) throws IOException {
        byte[] bytes = new byte[in.readInt()];
        in.readFully(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}

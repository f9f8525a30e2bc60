package io.tailrace.cli.digest.aggregate;

import io.tailrace.event.QueryEvent;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Aggregates the statements of logs by class or by another key. Audit and general logs contain no durations, so only
 * the counts of their statements are meaningful.
 */
public final class Digest {

    /** Maximum number of groups. Statements of further ones form one group, which bounds memory. */
    public static final int MAX_GROUPS = 65_536;

    /** Size of the cache of classes that avoids lookups in the map; a power of two. */
    private static final int RECENT_CLASSES = 1 << 17;

    /** Number of groups with charts of full resolution; the many small ones after them have coarse charts. */
    private static final int DETAILED_GROUPS = 10_000;

    /** Number of statements whose classes are looked up together. */
    private static final int MAX_WAITING = 256;

    public static final String FURTHER = "(further ones)";

    /** Name of the group of statements for which the server's table of digests had no room. */
    public static final String WITHOUT_DIGEST = "(without a digest: the server's table was full)";

    /** A statement that is not counted yet. */
    private record Added(QueryEvent event, String fingerprint, String statement) {}

    private final Grouping grouping;
    private final boolean timed;
    private final Map<Object, StatementGroup> groups = new HashMap<>();
    /** All groups and the total, by their numbers. */
    private final List<StatementGroup> numbered = new ArrayList<>();

    private final StatementGroup whole = numbered(0, "", "", StatementGroup.MAX_SLOTS);
    private final NameDictionary names = new NameDictionary();
    private final StatementBuffer backlog = new StatementBuffer();
    private final StatementGroup[] recentClasses;
    private final LoggingProperties facts = new LoggingProperties();
    private final List<Added> waiting = new ArrayList<>(MAX_WAITING);
    private final StatementGroup[] groupsOfWaiting = new StatementGroup[MAX_WAITING];
    private boolean isComplete;
    /** The time of the counters; null if statements are from logs. */
    private ObservedTimeRange counterPeriod;

    private long entries;

    /** Creates a digest of logs with or without durations of statements. */
    public Digest(Grouping grouping, boolean timed) {
        this.grouping = grouping;
        this.timed = timed;
        this.recentClasses = new StatementGroup[grouping.isByQuery() ? RECENT_CLASSES : 0];
    }

    /** Records the logging properties of an entry, whether it passes the filter or not. */
    public void see(QueryEvent event) {
        facts.add(event);
    }

    /**
     * Counts a statement.
     *
     * @param statement statement as it was logged; empty if it must not be stored
     */
    public void add(QueryEvent event, String fingerprint, String statement) {
        entries++;
        if (grouping.isByQuery()) {
            waiting.add(new Added(event, fingerprint, statement));
            if (waiting.size() == MAX_WAITING) {
                countWaiting();
            }
        } else {
            for (String key : grouping.keys(event)) {
                StatementGroup group = groups.get(key);
                group = group != null ? group : newGroup(key, 0, key, "");
                group.classes.add(fingerprint, event.getQueryTime() * event.getWeight());
                count(group, event);
                group.addPlan(event);
                takeExample(group, event, statement);
            }
        }
        if (grouping.overlaps()) {
            count(whole, event);
            whole.addPlan(event);
        } else {
            double weight = event.getWeight();
            whole.slots.add(event.getEventTime().getEpochSecond(), weight, event.getQueryTime() * weight);
        }
    }

    /**
     * Sets the time, in epoch seconds, in which a server counted the statements that {@link #addCounted} adds. Such a
     * digest has none of {@link #add}.
     */
    public void countedFrom(long from, long to) {
        counterPeriod = new ObservedTimeRange(from, to, 0);
    }

    /**
     * Counts what a server counted of one digest.
     *
     * @param event its database, verb and tables; its query id is 0 if no complete sample of the statement is known
     * @param fingerprint fingerprint of the sample, or the server's text of the digest
     * @param statement sample of the statement; empty if there is none
     */
    public void addCounted(QueryEvent event, String fingerprint, String statement, CountedStatements counted) {
        entries++;
        for (Object key : counterKeys(event, counted)) {
            StatementGroup group = groups.get(key);
            if (group == null) {
                String name = grouping.isByQuery() ? fingerprint : key.toString();
                group = newGroup(key, grouping.isByQuery() ? event.getQueryId() : 0, name, event.getVerb());
            }
            group.addCounted(event, counted);
            group.classes.add(fingerprint, counted.seconds());
            takeExample(group, counted.seconds() / Math.max(1, counted.count()), statement);
        }
        if (grouping.overlaps()) {
            whole.addCounted(event, counted);
        }
    }

    private List<?> counterKeys(QueryEvent event, CountedStatements counted) {
        if (!grouping.isByQuery()) {
            return grouping.keys(event);
        }
        return event.getQueryId() == 0 ? List.of(counted.digest()) : List.of(event.getQueryId());
    }

    /** Returns whether the statements come from the counters of a server, which contain neither users nor single times. */
    public boolean isOfCounters() {
        return counterPeriod != null;
    }

    /**
     * Returns a predicate for the statements that {@link #add} may store as an example. It has false positives, but no
     * false negatives. It must see a subset of the added statements in the same order.
     */
    public Predicate<QueryEvent> possibleExamples() {
        return new ExampleCandidates(grouping);
    }

    /**
     * Counts the waiting statements step by step instead of one by one. With many classes, each step of each statement
     * accesses memory outside of the processor's caches. The accesses of one step for all statements overlap.
     */
    private void countWaiting() {
        for (int i = 0; i < waiting.size(); i++) {
            Added added = waiting.get(i);
            StatementGroup group = ofClass(added.event.getQueryId());
            groupsOfWaiting[i] = group != null ? group : newClass(added.event, added.fingerprint);
        }
        for (int i = 0; i < waiting.size(); i++) {
            count(groupsOfWaiting[i], waiting.get(i).event);
        }
        for (int i = 0; i < waiting.size(); i++) {
            groupsOfWaiting[i].addPlan(waiting.get(i).event);
        }
        for (int i = 0; i < waiting.size(); i++) {
            Added added = waiting.get(i);
            takeExample(groupsOfWaiting[i], added.event, added.statement);
        }
        waiting.clear();
    }

    /** Returns the group of a class, or null. The class of most statements has occurred before. */
    private StatementGroup ofClass(long queryId) {
        int slot = (int) (queryId ^ queryId >>> 32) & RECENT_CLASSES - 1;
        StatementGroup recent = recentClasses[slot];
        if (recent != null && recent.queryId == queryId) {
            return recent;
        }
        StatementGroup group = groups.get(queryId);
        recentClasses[slot] = group;
        return group;
    }

    private int slots() {
        return groups.size() < DETAILED_GROUPS ? StatementGroup.SLOTS : StatementGroup.FEW_SLOTS;
    }

    private StatementGroup newClass(QueryEvent event, String fingerprint) {
        return newGroup(event.getQueryId(), event.getQueryId(), fingerprint, event.getVerb());
    }

    private StatementGroup newGroup(Object key, long queryId, String name, String verb) {
        if (groups.size() < MAX_GROUPS) {
            StatementGroup group = numbered(queryId, name, verb, slots());
            groups.put(key, group);
            return group;
        }
        return groups.computeIfAbsent(FURTHER, further -> numbered(0, FURTHER, "", slots()));
    }

    private StatementGroup numbered(long queryId, String name, String verb, int slots) {
        StatementGroup group = new StatementGroup(numbered.size(), queryId, name, verb, slots);
        numbered.add(group);
        return group;
    }

    /** Adds the measurements of a statement; until {@link #complete} is called, it may wait for others. */
    private void count(StatementGroup group, QueryEvent event) {
        backlog.add(group, event, names);
        if (backlog.isFull()) {
            backlog.count(numbered, names);
        }
    }

    private static void takeExample(StatementGroup group, QueryEvent event, String statement) {
        takeExample(group, event.getQueryTime(), statement);
    }

    private static void takeExample(StatementGroup group, double seconds, String statement) {
        if (group.needsExample(seconds)) {
            group.takeExample(ExampleStatement.kept(statement), seconds);
        }
    }

    /** Returns the total of all statements. */
    public StatementGroup whole() {
        complete();
        return whole;
    }

    /** Called after all statements were added: counts those that wait. */
    private void complete() {
        if (!isComplete) {
            countWaiting();
            backlog.count(numbered, names);
            if (!grouping.overlaps()) {
                groups.values().forEach(whole::addAll);
            }
            isComplete = true;
        }
    }

    /** Returns the time range of most statements. */
    public ObservedTimeRange range() {
        complete();
        return isOfCounters() ? counterPeriod : ObservedTimeRange.of(whole.slots);
    }

    public LoggingProperties facts() {
        return facts;
    }

    public Grouping grouping() {
        return grouping;
    }

    /** Returns whether the logs contain durations. */
    public boolean isTimed() {
        return timed;
    }

    /** Returns the number of log entries, which may represent more executions. */
    public long entries() {
        return entries;
    }

    public int groupCount() {
        complete();
        return groups.size();
    }

    /**
     * Returns the number of executions that were counted together beyond {@link #MAX_GROUPS} groups; 0 if there are
     * none.
     */
    public double furtherOnes() {
        complete();
        StatementGroup further = groups.get(FURTHER);
        return further == null ? 0 : further.count();
    }

    /** Returns the heaviest groups, heaviest first; equal ones are ordered by their ids and names. */
    public List<StatementGroup> heaviest(Ranking ranking, int limit) {
        complete();
        return groups.values().stream()
                .sorted(Comparator.comparingDouble(ranking::of)
                        .reversed()
                        .thenComparing(Comparator.comparingDouble(StatementGroup::count)
                                .reversed())
                        .thenComparing((one, other) -> Long.compareUnsigned(one.queryId, other.queryId))
                        .thenComparing(group -> group.name))
                .limit(Math.max(0, limit))
                .toList();
    }
}

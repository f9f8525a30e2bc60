package io.tailrace.cli.digest.aggregate;

import io.tailrace.event.QueryEvent;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * The statements of logs, by class or by what else groups them. Audit and general logs tell no times: of their
 * statements only the counts say something.
 */
public final class Digest {

    /** Groups that are distinguished; statements of further ones are one group, so that memory has a bound. */
    public static final int MAX_GROUPS = 65_536;

    /** Classes that are found without looking into the map; a power of two. */
    private static final int RECENT_CLASSES = 1 << 17;

    /** So many groups have charts of their full resolution; the many small ones of a long tail have coarse ones. */
    private static final int DETAILED_GROUPS = 10_000;

    /** Statements whose classes are looked up together. */
    private static final int MAX_WAITING = 256;

    public static final String FURTHER = "(further ones)";

    /** A statement that was added. */
    private record Added(QueryEvent event, String fingerprint, String statement) {}

    private final Grouping grouping;
    private final boolean timed;
    private final Map<Object, StatementGroup> groups = new HashMap<>();
    /** All groups and the whole, by their numbers. */
    private final List<StatementGroup> numbered = new ArrayList<>();

    private final StatementGroup whole = numbered(0, "", "", StatementGroup.MAX_SLOTS);
    private final NameDictionary names = new NameDictionary();
    private final StatementBuffer backlog = new StatementBuffer();
    private final StatementGroup[] recentClasses;
    private final LoggingProperties facts = new LoggingProperties();
    private final List<Added> waiting = new ArrayList<>(MAX_WAITING);
    private final StatementGroup[] groupsOfWaiting = new StatementGroup[MAX_WAITING];
    private boolean isComplete;
    private long entries;

    /** A digest of logs that tell how long a statement took, or of ones that do not. */
    public Digest(Grouping grouping, boolean timed) {
        this.grouping = grouping;
        this.timed = timed;
        this.recentClasses = new StatementGroup[grouping.isByQuery() ? RECENT_CLASSES : 0];
    }

    /** Sees an entry, wanted or not: what it says about the log. */
    public void see(QueryEvent event) {
        facts.add(event);
    }

    /**
     * Counts a statement.
     *
     * @param statement as it was logged; empty where it may not be kept
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
     * A judge of which statements {@link #add} may keep as an example: it says yes too often rather than too seldom.
     * It sees some of the statements that are added, in the order in which they are.
     */
    public Predicate<QueryEvent> possibleExamples() {
        return new ExampleCandidates(grouping);
    }

    /**
     * Counts the statements that wait, step by step and not one by one: where classes are many, each step of each
     * statement goes to a place in memory that is far from the processor, and it waits for those of one step together.
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

    /** The group of a class, or null. Most statements are of a class that came before. */
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

    /** Counts what a statement cost; until {@link #complete} was called it may wait for others. */
    private void count(StatementGroup group, QueryEvent event) {
        backlog.add(group, event, names);
        if (backlog.isFull()) {
            backlog.count(numbered, names);
        }
    }

    private static void takeExample(StatementGroup group, QueryEvent event, String statement) {
        if (group.needsExample(event.getQueryTime())) {
            group.takeExample(ExampleStatement.kept(statement), event.getQueryTime());
        }
    }

    /** All statements together. */
    public StatementGroup whole() {
        complete();
        return whole;
    }

    /** All was added: counts what is still to be counted. */
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

    /** The time that most statements are of. */
    public ObservedTimeRange range() {
        complete();
        return ObservedTimeRange.of(whole.slots);
    }

    public LoggingProperties facts() {
        return facts;
    }

    public Grouping grouping() {
        return grouping;
    }

    /** The logs tell how long statements took. */
    public boolean isTimed() {
        return timed;
    }

    /** Entries of the logs, which may stand for more executions. */
    public long entries() {
        return entries;
    }

    public int groupCount() {
        complete();
        return groups.size();
    }

    /** Executions that were counted together because {@link #MAX_GROUPS} groups are distinguished; 0 without any. */
    public double furtherOnes() {
        complete();
        StatementGroup further = groups.get(FURTHER);
        return further == null ? 0 : further.count();
    }

    /** The heaviest groups first; equal ones in the order of their ids and names. */
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

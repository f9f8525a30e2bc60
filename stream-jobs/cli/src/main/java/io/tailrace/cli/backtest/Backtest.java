package io.tailrace.cli.backtest;

import io.tailrace.detection.action.ActionResolver;
import io.tailrace.detection.dataclass.DataClasses;
import io.tailrace.detection.dataclass.DataClassifier;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.sigma.rule.RuleHeader;
import io.tailrace.detection.sigma.rule.SigmaRule;
import io.tailrace.detection.stored.RuleFields;
import io.tailrace.detection.stored.StoredTable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Evaluates one or two versions of rules on stored events, in the order of their times, in one pass. */
public final class Backtest {

    /** Later than all events. */
    private static final long END_OF_TIME = Long.MAX_VALUE / 4;

    /** Fields by which events of one action are recognized, and those that alerts contain. */
    private static final Set<String> ALWAYS = Set.of(
            "cluster",
            "instance",
            "event_class",
            "login",
            "user",
            "host",
            "src_ip",
            "database",
            "program",
            "connection_id",
            "query_id",
            "verb",
            "statement",
            "command",
            "event_name",
            "server_query_id",
            "table",
            "flag",
            "query_time");

    /**
     * What a backtest read.
     *
     * @param stored events in the period and the time before it, by the tables that were read
     * @param read those that a rule may match
     * @param first start of the first hour with events, microseconds since 1970 UTC; the largest number if none
     * @param statementsMissing read events whose statement is not stored, or may not be read by this user
     */
    public record Reading(Map<StoredTable, Long> stored, long read, long first, long statementsMissing) {

        /** Returns whether a table has events of the kind of log of a rule. */
        private boolean hasEventsOf(SigmaRule rule) {
            return stored.entrySet().stream().anyMatch(table -> table.getValue() > 0 && reads(rule, table.getKey()));
        }

        /** Returns the rules and correlations of a version for which no event of their logs is stored. */
        public List<RuleHeader> withoutEvents(RuleSelection version) {
            Set<String> able = version.rules().rules().stream()
                    .filter(this::hasEventsOf)
                    .map(rule -> rule.header().key())
                    .collect(Collectors.toCollection(HashSet::new));
            version.rules().correlations().stream()
                    .filter(rule -> rule.counted().stream().anyMatch(able::contains))
                    .forEach(rule -> able.add(rule.header().key()));
            return version.rules().alerting().stream()
                    .filter(header -> !able.contains(header.key()))
                    .toList();
        }
    }

    private final EventStore store;
    private final List<RuleSelection> versions;
    private final DataClasses classes;

    /** @param versions the tested version, and optionally the one that it is compared with */
    public Backtest(EventStore store, List<RuleSelection> versions, DataClasses classes) {
        this.store = store;
        this.versions = List.copyOf(versions);
        this.classes = classes;
    }

    /**
     * Reads the events of a period, which includes the time before the alerts that count.
     *
     * @param nowMicros this machine's clock, microseconds since 1970 UTC
     */
    public Reading run(Period period, long nowMicros, BacktestResults results) throws IOException {
        List<EventQuery> queries = queries(period);
        EventSlices slices = EventSlices.of(store, queries, period);
        List<BacktestVersion> engines = new ArrayList<>();
        for (int i = 0; i < versions.size(); i++) {
            int version = i;
            engines.add(new BacktestVersion(
                    versions.get(i),
                    results.from(),
                    nowMicros,
                    (alert, entity) -> results.raise(version, alert, entity)));
        }
        ActionResolver actions = new ActionResolver(ActionResolver.MAX_ACTIONS);
        DataClassifier classifier = new DataClassifier(usesClasses() ? classes : DataClasses.NONE);
        StoredEvents events = new StoredEvents(store, queries, new MatchScan(rules(), classifier));
        events.read(
                slices.slices(),
                event -> detect(event, actions, classifier, engines),
                slice -> engines.forEach(engine -> engine.advance(slice.to() - 1)));
        engines.forEach(engine -> engine.advance(END_OF_TIME));
        results.finish(engines.get(0).suppressed());
        return new Reading(slices.stored(), events.events(), slices.first(), events.statementsMissing());
    }

    private boolean usesClasses() {
        return versions.stream()
                .anyMatch(version -> !version.detectors().isEmpty()
                        || version.fields().names().stream().anyMatch(name -> name.startsWith("data_")));
    }

    private static void detect(
            DetectionEvent event, ActionResolver actions, DataClassifier classifier, List<BacktestVersion> engines) {
        event.actionFrom(actions::of);
        classifier.enrich(event);
        engines.forEach(engine -> engine.detect(event));
    }

    /** Returns what has to be read of each table that a rule or detector reads. */
    private List<EventQuery> queries(Period period) throws IOException {
        boolean hasDetectors =
                versions.stream().anyMatch(version -> !version.detectors().isEmpty());
        List<SigmaRule> rules = rules();
        RuleFields fields = versions.stream().map(RuleSelection::fields).reduce(RuleFields.NONE, RuleFields::and);
        List<EventQuery> queries = new ArrayList<>();
        for (StoredTable table : StoredTable.values()) {
            boolean isRead = hasDetectors || rules.stream().anyMatch(rule -> reads(rule, table));
            if (isRead) {
                queries.add(
                        hasDetectors
                                ? new EventQuery(table, table.columns(), List.of(), "")
                                : narrowed(table, rules, fields.names(), period));
            }
        }
        return queries;
    }

    private EventQuery narrowed(StoredTable table, List<SigmaRule> rules, Set<String> fields, Period period)
            throws IOException {
        Set<String> all = new HashSet<>(fields);
        all.addAll(ALWAYS);
        EventQuery query = new EventQuery(table, table.columns(all), table.scannedColumns(fields), "");
        try {
            return new EventFilter(store, rules, period).narrowed(query);
        } catch (IOException e) {
            // A filter only saves work: on very many events, its queries can exceed the limits of the reader.
            return query;
        }
    }

    private List<SigmaRule> rules() {
        return versions.stream()
                .flatMap(version -> version.rules().rules().stream())
                .toList();
    }

    private static boolean reads(SigmaRule rule, StoredTable table) {
        String service = rule.source().service();
        return service.isEmpty() || table.services().stream().anyMatch(service::equalsIgnoreCase);
    }
}

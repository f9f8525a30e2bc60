package io.tailrace.flink.clickhouse;

import io.tailrace.cache.BoundedCache;
import io.tailrace.flink.clickhouse.RowLayout.Column;
import io.tailrace.pseudonym.NameSealer;
import io.tailrace.pseudonym.Pseudonyms;
import io.tailrace.pseudonym.SealedName;
import io.tailrace.pseudonym.SubjectKind;
import java.time.Clock;
import java.time.Duration;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * Replaces names in the rows of one table by pseudonyms, and sends each new name to the vault, encrypted.
 *
 * <p>It sends a name once a day: the vault deletes names that nobody has used for long. Not thread-safe.
 */
final class SubjectNames implements RowBinaryEncoder.Replacement {

    static final String ARRIVALS = "subject_arrivals";

    private static final int KNOWN = 100_000;
    private static final int INITIAL_BYTES = 4 << 10;

    private final Map<String, SubjectKind> columns;
    private final Pseudonyms pseudonyms;
    private final NameSealer vault;
    private final String layout;
    private final Clock clock;
    /** What is stored for a name, by kind: its pseudonym, or the name itself. */
    private final Map<SubjectKind, Map<String, String>> known = new EnumMap<>(SubjectKind.class);

    private final RowBinaryBuffer arrivals = new RowBinaryBuffer(INITIAL_BYTES);
    private int arrived;
    private long day;

    /** @param table name with its database */
    private SubjectNames(String table, PseudonymKeys keys, Clock clock) {
        columns = SubjectColumns.of(table);
        pseudonyms = keys.readPseudonyms();
        vault = keys.readVault();
        layout = layout(table.substring(0, table.indexOf('.') + 1) + ARRIVALS);
        this.clock = clock;
    }

    /**
     * Returns the names of a table; empty without keys, or if the table has no column with pseudonyms.
     *
     * @param table name with its database
     */
    static Optional<SubjectNames> of(String table, Optional<PseudonymKeys> keys, Clock clock) {
        return keys.filter(given -> !SubjectColumns.of(table).isEmpty())
                .map(given -> new SubjectNames(table, given, clock));
    }

    /** Returns the replacement of values of a table with names, or that of any other table. */
    static RowBinaryEncoder.Replacement replacement(Optional<SubjectNames> names) {
        return names.<RowBinaryEncoder.Replacement>map(each -> each).orElse(RowBinaryEncoder.UNCHANGED);
    }

    private static String layout(String table) {
        List<Column> names = List.of(
                new Column("pseudonym", "String"),
                new Column("kind", "String"),
                new Column("wrapped_key", "String"),
                new Column("sealed_name", "String"));
        return new RowLayout(table, names).text();
    }

    @Override
    public UnaryOperator<Object> of(String field) {
        SubjectKind kind = columns.get(field);
        if (kind != null) {
            return value -> pseudonym(kind, value.toString());
        }
        return field.equals(SubjectColumns.ATTRIBUTES) ? value -> attributes((Map<?, ?>) value) : null;
    }

    /** Replaces the name in the attributes of a slow log; other attributes contain no account. */
    private Map<?, ?> attributes(Map<?, ?> given) {
        if (!given.containsKey(SubjectColumns.PRIVILEGED_USER)) {
            return given;
        }
        Map<Object, Object> replaced = new LinkedHashMap<>(given);
        replaced.computeIfPresent(
                SubjectColumns.PRIVILEGED_USER, (key, name) -> pseudonym(SubjectKind.USER, name.toString()));
        return replaced;
    }

    private String pseudonym(SubjectKind kind, String name) {
        if (name.isEmpty()) {
            return name;
        }
        forgetEachDay();
        return known.computeIfAbsent(kind, each -> new BoundedCache<>(KNOWN))
                .computeIfAbsent(name, each -> stored(kind, each));
    }

    private String stored(SubjectKind kind, String name) {
        return Pseudonyms.isClear(kind, name) ? name : arrive(kind, name);
    }

    private void forgetEachDay() {
        long today = clock.millis() / Duration.ofDays(1).toMillis();
        if (today != day) {
            known.clear();
            day = today;
        }
    }

    private String arrive(SubjectKind kind, String name) {
        String pseudonym = pseudonyms.of(kind, name);
        SealedName sealed = vault.seal(pseudonym, name);
        arrivals.writeString(pseudonym);
        arrivals.writeString(kind.word());
        arrivals.writeString(sealed.wrappedKey());
        arrivals.writeString(sealed.sealedName());
        arrived++;
        return pseudonym;
    }

    /** Returns the names that have arrived since the last call, for the vault; empty if there are none. */
    Optional<RowBlock> takeArrivals() {
        if (arrived == 0) {
            return Optional.empty();
        }
        RowBlock block = new RowBlock(layout, 0, arrived, arrivals.toByteArray());
        arrivals.clear();
        arrived = 0;
        return Optional.of(block);
    }
}

package io.tailrace.detection.dataclass;

import io.tailrace.cache.BoundedCache;
import io.tailrace.detection.dataclass.DataClassification.Basis;
import io.tailrace.detection.event.CaseFolding;
import io.tailrace.detection.event.DatabaseField;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import io.tailrace.flag.EventFlag;
import io.tailrace.statement.NameReader;
import io.tailrace.statement.StatementNames;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Enriches events with the data classes that they touch and the source of that information. Access that cannot be
 * determined is recorded as unknown, never as none; in doubt a class counts as touched. Not thread-safe.
 */
public final class DataClassifier {

    private static final int MAX_CACHED = 20_000;
    /** Fingerprints are truncated at 16 KiB, so a fingerprint of this length may lack names. */
    private static final int MAX_FINGERPRINT_LENGTH = 16_000;

    /** Statements about the definition of tables, not about their content. */
    private static final Set<String> METADATA = Set.of("DESCRIBE", "DESC", "USE", "HELP");
    /** The same, apart from subqueries and functions in its condition. */
    private static final String SHOW = "SHOW";

    private static final String CONDITION = "where";
    /** Statements whose text names no table: prepared from a variable, or rows in the form of the binary log. */
    private static final Set<String> DYNAMIC = Set.of("EXECUTE", "BINLOG");
    /** Program blocks, which may call routines and execute statements. */
    private static final Set<String> BLOCKS =
            Set.of("BEGIN", "IF", "CASE", "LOOP", "WHILE", "REPEAT", "FOR", "DECLARE");

    /** Commands that send data without naming a table. */
    private static final Set<String> STREAMS = Set.of(
            "binlog dump", "binlog dump gtid", "table dump", "binlog_dump", "binlog_dump_gtid", "table_dump", "clone");

    private static final Set<String> WITH_TEXT = Set.of("query", "execute");

    /** All inputs of a classification. */
    private record Key(
            String queryId, String database, List<String> read, List<String> written, String basis, boolean doubtful) {}

    private final boolean none;
    private final TableClassifier tables;
    private final Map<String, StoredRoutine> routines;
    /** Routines by their name without a database. */
    private final Map<String, StoredRoutine> routinesByName = new HashMap<>();
    /** Stored functions, with and without a database, by their names in fingerprints. */
    private final Map<String, StoredRoutine> functions = new HashMap<>();

    private final NameReader reader = new NameReader();
    private final Map<Key, DataClassification> cache = new BoundedCache<>(MAX_CACHED);

    public DataClassifier(DataClasses classes) {
        none = classes.isEmpty();
        tables = new TableClassifier(classes);
        routines = classes.routines();
        routines.forEach((key, routine) -> {
            String name = key.substring(key.indexOf('.') + 1);
            routinesByName.merge(name, routine, DataClassifier::either);
            functions.merge(FingerprintColumnNames.inFingerprints(key), routine, DataClassifier::either);
            functions.merge(FingerprintColumnNames.inFingerprints(name), routine, DataClassifier::either);
        });
    }

    private static StoredRoutine either(StoredRoutine one, StoredRoutine other) {
        Set<DataReference> reads = new HashSet<>(one.reads());
        reads.addAll(other.reads());
        Set<DataReference> writes = new HashSet<>(one.writes());
        writes.addAll(other.writes());
        return new StoredRoutine(List.copyOf(reads), List.copyOf(writes));
    }

    /** Sets the fields data_class, data_class_read, data_class_written, data_basis and data_access. */
    public void enrich(DetectionEvent event) {
        if (!none) {
            classification(event).enrich(event);
        }
    }

    private DataClassification classification(DetectionEvent event) {
        return switch (text(event, DatabaseField.EVENT_CLASS)) {
            case "query" -> ofStatement(event);
            case "table" -> ofTables(event);
            case "admin", "connection" -> ofCommand(event);
            default -> DataClassification.NOTHING;
        };
    }

    private static DataClassification ofCommand(DetectionEvent event) {
        boolean streams = STREAMS.contains(text(event, DatabaseField.COMMAND).toLowerCase(Locale.ROOT));
        return streams
                ? new DataClassification(Set.of(), Set.of(), EnumSet.of(Basis.UNKNOWN))
                : DataClassification.NOTHING;
    }

    private DataClassification ofTables(DetectionEvent event) {
        List<String> read = texts(event, DatabaseField.TABLE_READ);
        List<String> written = texts(event, DatabaseField.TABLE_WRITTEN);
        Key key = new Key("", "", read, written, "log", false);
        return cache.computeIfAbsent(key, absent -> {
            Search search = new Search(Basis.LOG, List.of(), true);
            search.tables(read, written);
            return search.result();
        });
    }

    private DataClassification ofStatement(DetectionEvent event) {
        String statement = text(event, DatabaseField.STATEMENT);
        List<FieldValue> flags = event.values(DatabaseField.FLAG.fieldName());
        Key key = new Key(
                text(event, DatabaseField.QUERY_ID),
                text(event, DatabaseField.DATABASE),
                texts(event, DatabaseField.TABLE_READ),
                texts(event, DatabaseField.TABLE_WRITTEN),
                text(event, DatabaseField.TABLES_BASIS),
                !flags.isEmpty() && (has(flags, EventFlag.TRUNCATED) || has(flags, EventFlag.TABLES_INCOMPLETE)));
        if (statement.isEmpty()) {
            return withoutText(event, key);
        }
        DataClassification known = cache.get(key);
        if (known == null) {
            known = classify(event, key, statement);
            cache.put(key, known);
        }
        return known;
    }

    private static boolean has(List<FieldValue> flags, EventFlag wanted) {
        return flags.stream().anyMatch(flag -> flag.text().equals(wanted.wireName()));
    }

    private DataClassification withoutText(DetectionEvent event, Key key) {
        Search search = new Search(Basis.LOG, List.of(), true);
        search.tables(key.read, key.written);
        String command = text(event, DatabaseField.COMMAND).toLowerCase(Locale.ROOT);
        String name = text(event, DatabaseField.EVENT_NAME);
        boolean mayDoAnything = WITH_TEXT.contains(command) && (name.isEmpty() || name.equals("status"));
        if (mayDoAnything && key.read.isEmpty() && key.written.isEmpty()) {
            search.bases.add(Basis.UNKNOWN);
        }
        return search.result();
    }

    private DataClassification classify(DetectionEvent event, Key key, String statement) {
        String verb = text(event, DatabaseField.VERB);
        boolean show = verb.equals(SHOW);
        boolean metadata = METADATA.contains(verb) || show && !statement.contains(CONDITION);
        if (metadata && !key.doubtful) {
            return DataClassification.NOTHING;
        }
        boolean ofLog = "log".equals(key.basis);
        byte[] bytes = statement.getBytes(StandardCharsets.UTF_8);
        StatementNames names = reader.read(bytes, bytes.length);
        boolean everyColumn = key.doubtful || names.everyColumn() || statement.length() >= MAX_FINGERPRINT_LENGTH;
        Search search = new Search(
                ofLog ? Basis.LOG : Basis.STATEMENT,
                names.names().stream().map(FieldValue::of).toList(),
                everyColumn);
        if (!show || ofLog || mayContainQuery(statement, names)) {
            search.tables(key.read, key.written);
        }
        boolean tablesUnknown = key.doubtful && !ofLog
                || DYNAMIC.contains(verb)
                || BLOCKS.contains(verb) && callsOrExecutes(names.names());
        if (tablesUnknown) {
            search.bases.add(Basis.UNKNOWN);
        }
        if (verb.equals("CALL")) {
            called(statement, key.database, search);
        } else {
            functions(names.called(), key, search);
        }
        return search.result();
    }

    /** Returns whether the condition of a SHOW may contain a query; if so, the tables include those that it reads. */
    private static boolean mayContainQuery(String statement, StatementNames names) {
        return names.names().contains("select") || statement.contains("(table ") || statement.contains("( table ");
    }

    private static boolean callsOrExecutes(Set<String> names) {
        return names.contains("call") || names.contains("execute");
    }

    /** Resolves {@code call shop.report}. Fingerprints retain the digits of a routine's name. */
    private void called(String statement, String database, Search search) {
        String name = statement
                .substring(Math.min(statement.length(), "call ".length()))
                .trim();
        List<String> parts = QualifiedName.parts(name, 2);
        StoredRoutine routine =
                parts.size() == 2 ? routine(parts.get(0), parts.get(1)) : routine(database, parts.get(0));
        if (routine == null) {
            search.bases.add(Basis.UNKNOWN);
        } else {
            search.routine(routine);
        }
    }

    private StoredRoutine routine(String database, String name) {
        return database.isEmpty()
                ? routinesByName.get(CaseFolding.fold(name))
                : routines.get(QualifiedName.key(database, name));
    }

    /**
     * A function with a database is a stored function, and an unknown one may read any table. Others may be built in.
     * Some statements, such as SHOW and SET, keep the digits of names in their fingerprints.
     */
    private void functions(Set<String> called, Key key, Search search) {
        for (String call : called) {
            String name = FingerprintColumnNames.inFingerprints(call);
            boolean qualified = name.indexOf('.') >= 0;
            boolean inDatabase = !qualified && !key.database.isEmpty();
            StoredRoutine routine =
                    functions.get(inDatabase ? FingerprintColumnNames.inFingerprints(key.database) + '.' + name : name);
            if (routine != null) {
                search.routine(routine);
            } else if (qualified && !isTable(name, key)) {
                search.bases.add(Basis.UNKNOWN);
            }
        }
    }

    /** Distinguishes {@code INSERT INTO shop.orders (a, b)} from a call. */
    private static boolean isTable(String name, Key key) {
        return key.read.stream().anyMatch(table -> FingerprintColumnNames.inFingerprints(table)
                        .equals(name))
                || key.written.stream().anyMatch(table -> FingerprintColumnNames.inFingerprints(table)
                        .equals(name));
    }

    private static String text(DetectionEvent event, DatabaseField field) {
        List<FieldValue> values = event.values(field.fieldName());
        return values.isEmpty() ? "" : values.get(0).text();
    }

    private static List<String> texts(DetectionEvent event, DatabaseField field) {
        List<FieldValue> values = event.values(field.fieldName());
        return switch (values.size()) {
            case 0 -> List.of();
            case 1 -> List.of(values.get(0).text());
            default -> values.stream().map(FieldValue::text).toList();
        };
    }

    /** Collects the classes of one event. */
    private final class Search {

        private final Basis basis;
        /** The names in the statement. */
        private final List<FieldValue> names;
        /** The statement may touch columns that it does not name. */
        private final boolean everyColumn;

        private final Set<String> read = new HashSet<>();
        private final Set<String> written = new HashSet<>();
        private final EnumSet<Basis> bases = EnumSet.noneOf(Basis.class);

        Search(Basis basis, List<FieldValue> names, boolean everyColumn) {
            this.basis = basis;
            this.names = names;
            this.everyColumn = everyColumn;
        }

        void tables(List<String> tablesRead, List<String> tablesWritten) {
            tablesRead.forEach(table -> table(tables.of(table), read));
            tablesWritten.forEach(table -> table(tables.of(table), written));
        }

        private void table(TableClasses table, Set<String> touched) {
            Set<String> direct = new HashSet<>(table.whole());
            for (ColumnClass each : table.columns()) {
                if (everyColumn && each.hasThem() || each.holdsAny(names)) {
                    direct.add(each.name());
                }
            }
            add(direct, touched, basis);
            add(table.resolved(), touched, Basis.RESOLVED);
            if (table.unresolved()) {
                bases.add(Basis.UNKNOWN);
            }
        }

        void routine(StoredRoutine routine) {
            routine.reads().forEach(target -> add(tables.of(target), read, Basis.RESOLVED));
            routine.writes().forEach(target -> add(tables.of(target), written, Basis.RESOLVED));
        }

        private void add(Set<String> found, Set<String> touched, Basis by) {
            if (!found.isEmpty()) {
                touched.addAll(found);
                bases.add(by);
            }
        }

        DataClassification result() {
            return bases.isEmpty() ? DataClassification.NOTHING : new DataClassification(read, written, bases);
        }
    }
}

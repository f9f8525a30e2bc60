package io.tailrace.detection.detector.firstseen;

import io.tailrace.detection.detector.DetectorEventFields;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import io.tailrace.flag.EventFlag;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Names what a query reads or copies, if that is a reason to ask: {@code secrets in shop.staff} and {@code bank details in
 * shop.clients} by the names of columns, {@code pay in hr.salaries} by those of columns or the table, {@code all rows of
 * shop.orders}, and {@code all persons of shop.members} if the table
 * is of a data class or its name says so. Not thread-safe.
 */
public final class ReadColumns {

    /** Only statements up to this length are read, characters. */
    private static final int MAX_LENGTH = 4_096;
    /** Two names of a server with a point between them, characters. */
    private static final int MAX_TABLE = 129;

    /** Tables of a server's users, not those of its catalogues: unknown to an account that only monitors. */
    static final String DATA = "tables with data";
    /** Follows a kind of columns and a table if a query has no condition. */
    static final String MANY_ROWS = " (many rows)";

    private static final List<FieldValue> ONLY_DATA = List.of(FieldValue.of(DATA));
    private static final Set<String> USING = Set.of("SELECT", "TABLE", "INSERT", "REPLACE", "UPDATE", "DELETE");
    private static final Set<String> READING = Set.of("SELECT", "TABLE", "CREATE", "INSERT", "REPLACE");
    private static final List<ColumnKind> KINDS =
            List.of(ColumnKind.SECRETS, ColumnKind.BANK_DETAILS, ColumnKind.PAY, ColumnKind.IDENTITY_NUMBERS);
    /** Rules report reads of catalogues. */
    private static final Pattern CATALOGUE =
            Pattern.compile("(?i)(information_schema|performance_schema|sys|mysql)\\..*");

    private static final String SELECT = "select ";
    private static final String SEPARATOR = ",";
    private static final String WHOLE = "whole";
    private static final String FLAGGED = "flagged";
    private static final String MANY = "many";
    private static final String ALL_ROWS = "all rows of ";
    private static final String ALL_PERSONS = "all persons of ";

    private static final Pattern COLUMN = Pattern.compile("[a-z0-9_$?]{1,64}");
    private static final Pattern END_OF_TABLES =
            Pattern.compile("\\b(where|group by|order by|having|limit|procedure)\\b");
    /** One table, without a condition; the condition of a flagged statement selects all rows. */
    private static final String TABLE =
            "`?[a-z0-9_$?]+`?( ?\\. ?`?[a-z0-9_$?]+`?)?( as)?( (?!where|limit|order)`?[a-z_?]+`?)?";

    /** Up to a limit. */
    private static final String ORDER = "( order by ((?! limit )[a-z0-9_?`., ])+)?";

    private static final Pattern UNCONDITIONAL =
            Pattern.compile("(table|select (?<columns>.+?) ?\\bfrom) ?" + TABLE + ORDER);
    private static final Pattern TRIVIAL = Pattern.compile("(table|select (?<columns>.+?) ?\\bfrom) ?" + TABLE
            + "( where [^()]*)?" + ORDER + "( limit \\?(, ?\\?| offset \\?)?)?");
    /** Keys and totals tell little about the rows. */
    private static final Pattern NO_CONTENT = Pattern.compile(
            "(distinct )?((`?[a-z_?]+`?\\.)?`?([a-z0-9_?]*_)?id`?|\\?|,| "
                    + "|as [a-z0-9_`]+)+|.*\\b(count|sum|avg|min|max|group_concat|json_arrayagg|bit_and|std|variance) ?\\(.*");

    private static final Pattern PERSONS =
            Pattern.compile("(?i)(.*[._])?(users?|accounts?|members?|memberships|patrons?"
                    + "|staff(_accounts?|_users?|_members?)?|guests?|clients?|customers?|subscribers?|tenants?|residents?|donors?"
                    + "|borrowers?|readers?|claimants?|citizens?|insured|contacts?|leads?|pupils?|players?|drivers?|voters?|owners?"
                    + "|participants?|registrations|people|persons?|profiles?|workers?|candidates?|visitors?|attendees?|operators?"
                    + "|mandates?|sepa_mandates?|cards?|benutzer|nutzer|leser|mieter|bewohner|spender|gaeste|usuarios|miembros"
                    + "|inquilinos|huespedes|utilisateurs|membres|locataires|utenti|membri|ospiti|gebruikers|huurders"
                    + "|uzytkownicy|pacjenci|klienci|pracownicy|pacientes|clientes|funcionarios|correntistas|uzivatele|zakaznici"
                    + "|zamestnanci|pacienti|musteriler|hastalar|kullanicilar|kunder|anvandare)");

    private final Map<ColumnKind, String> labels = new EnumMap<>(ColumnKind.class);
    private final UnaryOperator<String> facts = new RecentShapes(this::factsOf);
    private final UnaryOperator<String> persons =
            new RecentShapes(table -> PERSONS.matcher(table).matches() ? ALL_PERSONS : ALL_ROWS);

    private final UnaryOperator<String> data =
            new RecentShapes(table -> CATALOGUE.matcher(table).matches() ? "" : DATA);
    private final UnaryOperator<String> payOf = new RecentShapes(table -> PayTables.contain(table) ? table : "");

    public ReadColumns() {
        for (ColumnKind kind : KINDS) {
            labels.put(kind, kind.label());
        }
    }

    /** Returns whether a value names more than a table without sensitive rows. */
    public static boolean isSensitive(String value) {
        return !value.startsWith(ALL_ROWS);
    }

    /** Returns what the event reads, and {@link #DATA} for any table but those of catalogues. */
    public List<FieldValue> of(DetectionEvent event) {
        String verb = DetectorEventFields.text(event, "verb");
        List<FieldValue> tables = event.values("table_read");
        List<FieldValue> written = event.values("table_written");
        boolean usesData = USING.contains(verb) && !hasCopy(written) && (hasData(tables) || hasData(written));
        List<FieldValue> reads = tables.isEmpty() || !READING.contains(verb) ? List.of() : reads(event, tables);
        if (!usesData) {
            return reads;
        }
        if (reads.isEmpty()) {
            return ONLY_DATA;
        }
        List<FieldValue> all = new ArrayList<>(reads);
        all.add(ONLY_DATA.get(0));
        return all;
    }

    /** Returns whether a statement belongs to a change of a schema, which administrators run. */
    private static boolean hasCopy(List<FieldValue> written) {
        return !written.isEmpty() && SchemaChangeTables.contain(written.get(0).text());
    }

    private boolean hasData(List<FieldValue> tables) {
        for (FieldValue table : tables) {
            if (table.text().length() <= MAX_TABLE && !data.apply(table.text()).isEmpty()) {
                return true;
            }
        }
        return false;
    }

    /** Returns what the event reads; empty for a statement that reads a part of the rows and no sensitive columns. */
    private List<FieldValue> reads(DetectionEvent event, List<FieldValue> tables) {
        String statement = DetectorEventFields.statement(event);
        String known = statement.length() <= MAX_LENGTH ? withPay(facts.apply(statement), tables) : "";
        if (known.isEmpty() || CATALOGUE.matcher(tables.get(0).text()).matches()) {
            return List.of();
        }
        List<FieldValue> reads = new ArrayList<>(1);
        for (String fact : known.split(SEPARATOR)) {
            if (fact.equals(WHOLE) || fact.equals(FLAGGED)) {
                String table = tables.get(0).text();
                String label = event.values("data_class").isEmpty() ? label(table) : ALL_PERSONS;
                if (tables.size() == 1 && (fact.equals(WHOLE) || isFlagged(event, label))) {
                    reads.add(FieldValue.of(label + table));
                }
            } else if (!fact.equals(MANY)) {
                String part = known.contains(SEPARATOR + MANY) ? MANY_ROWS : "";
                for (FieldValue table : tables) {
                    reads.add(FieldValue.of(fact + " in " + table.text()));
                    if (!part.isEmpty()) {
                        reads.add(FieldValue.of(fact + " in " + table.text() + part));
                    }
                }
            }
        }
        return reads;
    }

    /** Adds the kind of rows that only the name of a table tells. */
    private String withPay(String known, List<FieldValue> tables) {
        String pay = labels.get(ColumnKind.PAY);
        boolean isNew = !known.contains(pay)
                && tables.stream().anyMatch(table -> !payOf.apply(table.text()).isEmpty());
        return !isNew ? known : known.isEmpty() ? pay : known + SEPARATOR + pay;
    }

    private String label(String table) {
        return table.length() <= MAX_TABLE ? persons.apply(table) : ALL_ROWS;
    }

    /** A high limit is usual for analysts, so that it counts for tables of persons only. */
    private static boolean isFlagged(DetectionEvent event, String label) {
        return hasFlag(event, EventFlag.EVERY_ROW)
                || label.equals(ALL_PERSONS) && hasFlag(event, EventFlag.VERY_LARGE_LIMIT);
    }

    private static boolean hasFlag(DetectionEvent event, EventFlag flag) {
        return event.values("flag").stream().anyMatch(value -> value.text().equals(flag.wireName()));
    }

    /** Returns the same as {@link #factsOfQuery} for a query, and for a statement that copies the result of one. */
    private String factsOf(String statement) {
        boolean isQuery = statement.startsWith(SELECT) || statement.startsWith("table ");
        int start = isQuery ? 0 : statement.indexOf(' ' + SELECT) + 1;
        return isQuery || start > 0 ? factsOfQuery(statement.substring(start)) : "";
    }

    /** Returns the kinds of the selected columns, and whether all rows are read, separated by commas. */
    private String factsOfQuery(String statement) {
        List<String> known = new ArrayList<>(1);
        Matcher end = END_OF_TABLES.matcher(statement);
        Matcher column = COLUMN.matcher(statement).region(0, end.find() ? end.start() : statement.length());
        while (column.find()) {
            for (ColumnKind kind : KINDS) {
                if (!known.contains(labels.get(kind)) && kind.contains(column.group())) {
                    known.add(labels.get(kind));
                }
            }
        }
        boolean hasKind = !known.isEmpty();
        boolean isWhole = isWhole(UNCONDITIONAL, statement);
        boolean isTrivial = !isWhole && isWhole(TRIVIAL, statement);
        if (isWhole) {
            known.add(WHOLE);
        } else if (isTrivial) {
            known.add(FLAGGED);
        }
        if (hasKind && (isWhole || isTrivial) && !statement.contains(" where ")) {
            known.add(MANY);
        }
        return String.join(SEPARATOR, known);
    }

    private static boolean isWhole(Pattern pattern, String statement) {
        if (statement.indexOf(SELECT, 1) > 0) {
            return false;
        }
        Matcher whole = pattern.matcher(statement);
        return whole.matches()
                && (whole.group("columns") == null
                        || !NO_CONTENT.matcher(whole.group("columns")).matches());
    }
}

package io.tailrace.detection.detector.firstseen;

import io.tailrace.detection.detector.DetectorEventFields;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Names what a statement changes: {@code UPDATE shop.orders}, {@code DELETE shop.orders}, the kinds of columns to which an
 * INSERT or UPDATE assigns values, such as {@code secrets in shop.users}, {@code log entries in shop.audit_log}, {@code
 * settings in shop.tariffs}, {@code results in lab.results}, {@code pay in hr.payroll} for any column but those of a state, and
 * {@code multiplied values in shop.prices} for {@code SET price = price * ?}. Kinds are known
 * by the names of columns and tables. {@code stored programs} is what CREATE PROCEDURE, FUNCTION, TRIGGER and EVENT define,
 * {@link #DEFINITIONS} what other statements define or maintain. Not thread-safe.
 */
public final class ChangedColumns {

    /** Only this part of a statement is read, characters. */
    private static final int MAX_LENGTH = 4_096;
    /** Two names of a server with a point between them, characters. */
    private static final int MAX_TABLE = 129;

    private static final Set<String> ASSIGNING = Set.of("UPDATE", "INSERT", "REPLACE");
    private static final Set<String> REPORTED = Set.of("UPDATE", "DELETE");

    /** What an account defines that administers or deploys; it is known then, and not reported. */
    public static final String DEFINITIONS = "definitions";

    static final String STORED_PROGRAMS = "stored programs";
    /** Rows that {@code CREATE TABLE … SELECT} copies. */
    static final String COPIED_TABLES = "copied tables";
    /** Tables and databases. */
    static final String DROPPED_TABLES = "dropped tables";
    /** Follows the kind of columns that a trigger assigns: {@code bank details by stored programs}. */
    static final String BY_STORED_PROGRAMS = " by stored programs";

    private static final Set<String> DEFINING = Set.of(
            "CREATE", "ALTER", "DROP", "RENAME", "TRUNCATE", "GRANT", "REVOKE", "ANALYZE", "OPTIMIZE", "CHECK", "KILL");
    private static final Pattern TEMPORARY =
            Pattern.compile("(create|drop) (or replace )?temporary\\b.*", Pattern.DOTALL);
    private static final Pattern STORED_PROGRAM = Pattern.compile(
            "create (or replace )?(definer ?= ?[^ ]+ ?)?(aggregate )?(procedure|function|trigger|event|package)\\b.*",
            Pattern.DOTALL);
    private static final Pattern COPY =
            Pattern.compile("create (or replace )?table\\b.*\\bselect\\b.*", Pattern.DOTALL);
    private static final Pattern DROP = Pattern.compile("drop (tables?|database|schema)\\b.*", Pattern.DOTALL);
    /** A trigger that sets one of these columns changes rows whenever somebody else stores them. */
    private static final Pattern SET_BY_TRIGGER = Pattern.compile("\\bnew ?\\. ?`?([a-z0-9_$?]{1,64})`? ?:?=");

    private static final List<ColumnKind> OF_TRIGGERS =
            List.of(ColumnKind.BANK_DETAILS, ColumnKind.RIGHTS, ColumnKind.BALANCES);
    private static final String IN = " in ";
    private static final String LOG_ENTRIES = "log entries" + IN;
    private static final String SETTINGS = "settings" + IN;
    private static final String RESULTS = "results" + IN;
    private static final String MULTIPLIED = "multiplied values";
    private static final String PAY = ColumnKind.PAY.label();
    private static final String SEPARATOR = ",";

    /** Tables in which applications record what their users did. */
    private static final Pattern LOG = Pattern.compile(
            "(?i)(.*[._])?([a-z]+_)?(audits?|audit_?(trail|log|entry|entries|events?)|trail"
                    + "|logs?|(access|activity|change|security|login|event)_?logs?|history|histories|journal|[a-z]*protokoll|bitacora"
                    + "|auditoria(_[a-z]+)?|historial|dziennik|denik|registros?|wijzigings_?log|logboek"
                    + "|(aendrings|endrings|andrings|hendelses|tapahtuma|muutos)_?(logg?|loki)|naplo|istoric|storico|riwayat)");

    /** Tables of few rows that decide how an application behaves, what it charges, and who may do what. */
    private static final Pattern SETTINGS_TABLE = Pattern.compile("(?i)(.*[._])?("
            + "config(s|uration|urations|_?data|_?values?)?|settings?|options?|param(s|eters?)?|(feature_?)?(flags?|toggles?)"
            + "|features|permissions?|roles?|role_(permissions?|rights)|rights|acls?|polic(y|ies)"
            + "|(price|pricing|fee|tax|discount|approval|fraud|risk|business|routing|alert)_?(rules?|list|lists|table|tables)"
            + "|tariffs?|prices|pricing|(tax|fee|exchange|interest|vat)_?rates?|(spending|credit|transfer|card)?_?limits"
            + "|thresholds?|set_?points?|konfiguration(en)?|einstellung(en)?|tarife?|preise?|preisliste|berechtigung(en)?"
            + "|rechte|grenzwerte|steuers(a|ae|ä)tze|configuracion(es)?|ajustes|precios|tarifas?|permisos|parametros"
            + "|configurations?|parametres?|reglages|prix|tarifs|droits|impostazioni|prezzi|tariffe|permessi|instellingen"
            + "|indstillinger|innstillinger|installningar|asetukset|nastavenia?|postavke|podesavanja|beallitasok|setari"
            + "|pengaturan|cau_hinh|mipangilio|ayarlar|definicoes|opzioni|opties"
            + "|prijzen|configuraco?es|precos|ustawienia|cennik|ceny)");

    /** Tables of what somebody found or decided about a person, which is corrected by few. */
    private static final Pattern RESULTS_TABLE = Pattern.compile("(?i)(.*[._])?("
            + "results?|grades?|marks|diagnos(is|es|tics)|prescriptions?|verdicts?|findings"
            + "|befunde?|ergebnisse?|noten|diagnosen|rezepte?|resultados?|notas|recetas?|diagnosticos?|resultats?"
            + "|ordonnances?|risultati|referti|voti|ricette|uitslagen|cijfers|recepten|exames|laudos|receitas"
            + "|wyniki|oceny|recepty|rozpoznania|betyg|provsvar|sonuclar|receteler|vysledky|znamky"
            + "|toets_?resultaten|resultaten|resultater|karakterer|tulokset|arvosanat|eredmenyek|jegyek"
            + "|rezultate|ocjene|ocene|matokeo)(_[a-z?]+)?");

    private static final Pattern COLUMN = Pattern.compile("([a-z0-9_$?]{1,64})`? ?=");
    /** A number that a value is multiplied with or divided by, unlike one that is added, changes any rows by any amount. */
    private static final Pattern OWN_MULTIPLE = Pattern.compile(
            "(?<![a-z0-9_$?])([a-z0-9_$?]{1,64})`? ?= ?(?:[a-z]+ ?)?\\(?`?"
                    + "(?:[a-z0-9_$?]{1,64}`?\\.`?)?(?:\\1`?\\)? ?[*/]|[?] ?[*] ?\\(?`?(?:[a-z0-9_$?]{1,64}`?\\.`?)?\\1\\b)");

    /** Columns by which a pay run is approved, booked or exported, which changes nobody's pay. */
    private static final Pattern STATE_OF_PAY =
            Pattern.compile("(.*_)?(approved|paid|posted|booked|exported|locked|closed|sent"
                    + "|printed|checked|confirmed|done|status|state|version|at|by|date|time|note|notes|comment|betald|bezahlt|pagado|paye"
                    + "|pagato|betaald|wyplacono|pago|odendi|status_id)(_.*)?");

    private static final Pattern LISTED = Pattern.compile("[a-z0-9_$?]{1,64}");
    private static final String DUPLICATE = "on duplicate key update";
    private static final Pattern ON_DUPLICATE = Pattern.compile("\\b" + DUPLICATE + "\\b");
    private static final Pattern SET = Pattern.compile("\\bset\\b");
    private static final Pattern WHERE = Pattern.compile("\\bwhere\\b");
    private static final Pattern VALUES = Pattern.compile("\\b(values?|select)\\b");

    private final Map<ColumnKind, String> labels = new EnumMap<>(ColumnKind.class);
    private final UnaryOperator<String> kinds = new RecentShapes(this::kindsOf);
    private final UnaryOperator<String> purposes = new RecentShapes(ChangedColumns::purposeOf);
    private final UnaryOperator<String> payOf = new RecentShapes(table -> PayTables.contain(table) ? table : "");

    public ChangedColumns() {
        for (ColumnKind kind : EnumSet.complementOf(EnumSet.of(ColumnKind.PAY, ColumnKind.IDENTITY_NUMBERS))) {
            labels.put(kind, kind.label());
        }
    }

    /** Returns whether a value names a kind of columns, not only a table. */
    public static boolean isKind(String value) {
        return value.contains(IN) || value.endsWith(BY_STORED_PROGRAMS);
    }

    /** Returns whether a value names a setting, which a new account rarely changes. */
    public static boolean isSetting(String value) {
        return value.startsWith(SETTINGS);
    }

    /** Returns whether a value is a reason to ask at an unusual hour, even of an account that changes it every day. */
    public static boolean isOfOfficeHours(String value) {
        return value.startsWith(ColumnKind.BANK_DETAILS.label() + IN)
                || value.startsWith(PAY + IN)
                || value.startsWith(ColumnKind.BALANCES.label() + IN)
                || value.startsWith(ColumnKind.RIGHTS.label() + IN);
    }

    /** Returns whether a value is a definition that is reported for an account that defined nothing before. */
    static boolean isDefinition(String value) {
        return value.equals(STORED_PROGRAMS) || value.equals(COPIED_TABLES) || value.equals(DROPPED_TABLES);
    }

    /** Returns what the event changes; empty for a statement that changes no rows. */
    public List<FieldValue> of(DetectionEvent event) {
        String verb = DetectorEventFields.text(event, "verb");
        if (DEFINING.contains(verb)) {
            return definitions(DetectorEventFields.statement(event));
        }
        List<FieldValue> tables = event.values("table_written");
        if (tables.isEmpty()) {
            return List.of();
        }
        boolean isReported = REPORTED.contains(verb);
        String statement = shortened(DetectorEventFields.statement(event));
        String assigned = ASSIGNING.contains(verb) ? kinds.apply(statement) : "";
        boolean overwrites = isReported || verb.equals("REPLACE") || statement.contains(DUPLICATE);
        if (!overwrites && assigned.isEmpty()) {
            return List.of();
        }
        List<FieldValue> changes = new ArrayList<>();
        for (FieldValue table : tables) {
            if (isReported) {
                changes.add(FieldValue.of(verb + ' ' + table.text()));
            }
            if (overwrites && table.text().length() <= MAX_TABLE) {
                addPurpose(table.text(), isReported, changes);
            }
            for (String kind : assigned.isEmpty() ? new String[0] : assigned.split(SEPARATOR)) {
                if (!kind.equals(PAY) || !payOf.apply(table.text()).isEmpty()) {
                    changes.add(FieldValue.of(kind + IN + table.text()));
                }
            }
        }
        return changes;
    }

    private static List<FieldValue> definitions(String statement) {
        if (TEMPORARY.matcher(statement).matches()) {
            return List.of();
        }
        if (STORED_PROGRAM.matcher(statement).matches()) {
            return storedProgram(shortened(statement));
        }
        boolean isCopy = COPY.matcher(statement).matches();
        boolean isDrop = DROP.matcher(statement).matches();
        return List.of(FieldValue.of(isCopy ? COPIED_TABLES : isDrop ? DROPPED_TABLES : DEFINITIONS));
    }

    private static List<FieldValue> storedProgram(String statement) {
        List<FieldValue> values = new ArrayList<>(1);
        values.add(FieldValue.of(STORED_PROGRAMS));
        Matcher column = SET_BY_TRIGGER.matcher(statement);
        Set<ColumnKind> known = EnumSet.noneOf(ColumnKind.class);
        while (column.find()) {
            for (ColumnKind kind : OF_TRIGGERS) {
                if (kind.contains(column.group(1)) && known.add(kind)) {
                    values.add(FieldValue.of(kind.label() + BY_STORED_PROGRAMS));
                }
            }
        }
        return values;
    }

    /** Adds what the name of a table tells about its rows. Entries of logs are inserted by everybody. */
    private void addPurpose(String table, boolean isReported, List<FieldValue> changes) {
        String purpose = purposes.apply(table);
        if (!purpose.isEmpty() && (isReported || purpose.equals(SETTINGS))) {
            changes.add(FieldValue.of(purpose + table));
        }
    }

    private static String purposeOf(String table) {
        if (LOG.matcher(table).matches()) {
            return LOG_ENTRIES;
        }
        if (SETTINGS_TABLE.matcher(table).matches()) {
            return SETTINGS;
        }
        return RESULTS_TABLE.matcher(table).matches() ? RESULTS : "";
    }

    private static String shortened(String statement) {
        return statement.length() <= MAX_LENGTH ? statement : statement.substring(0, MAX_LENGTH);
    }

    /** Returns the kinds of the columns that a statement assigns, separated by commas; {@code pay} is one if the table is. */
    private String kindsOf(String statement) {
        List<String> columns = new ArrayList<>();
        String multiplied = "";
        String pay = "";
        if (statement.startsWith("update")) {
            multiplied = assigned(statement, SET, columns) ? MULTIPLIED : "";
            pay = columns.stream().anyMatch(ChangedColumns::mayBePay) ? PAY : "";
        } else {
            listed(statement, columns);
            assigned(statement, ON_DUPLICATE, columns);
        }
        Stream<String> ofColumns = labels.entrySet().stream()
                .filter(kind ->
                        columns.stream().anyMatch(column -> kind.getKey().contains(column)))
                .map(Map.Entry::getValue);
        return Stream.concat(ofColumns, Stream.of(multiplied, pay).filter(Predicate.not(String::isEmpty)))
                .collect(Collectors.joining(SEPARATOR));
    }

    /** Returns whether a column of a table of pay may contain an amount. The names of balances tell it already. */
    private static boolean mayBePay(String column) {
        return !STATE_OF_PAY.matcher(column).matches()
                && !ColumnKind.BALANCES.contains(column)
                && !ColumnKind.BANK_DETAILS.contains(column);
    }

    /** Adds the columns of the assignments after a keyword; returns whether one multiplies its own value. */
    private static boolean assigned(String statement, Pattern keyword, List<String> columns) {
        Matcher start = keyword.matcher(statement);
        if (!start.find()) {
            return false;
        }
        Matcher where = WHERE.matcher(statement);
        int end = where.find(start.end()) ? where.start() : statement.length();
        Matcher column = COLUMN.matcher(statement).region(start.end(), end);
        while (column.find()) {
            columns.add(column.group(1));
        }
        return OWN_MULTIPLE.matcher(statement).region(start.end(), end).find();
    }

    /** Adds the columns of the list before VALUES or SELECT, or of the assignments of INSERT … SET. */
    private static void listed(String statement, List<String> columns) {
        Matcher values = VALUES.matcher(statement);
        int end = values.find() ? values.start() : statement.length();
        int open = statement.indexOf('(');
        if (open < 0 || open > end) {
            assigned(statement, SET, columns);
            return;
        }
        Matcher column = LISTED.matcher(statement).region(open, end);
        while (column.find()) {
            columns.add(column.group());
        }
    }
}

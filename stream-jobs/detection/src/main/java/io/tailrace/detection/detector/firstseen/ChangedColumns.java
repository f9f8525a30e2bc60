package io.tailrace.detection.detector.firstseen;

import io.tailrace.detection.detector.DetectorEventFields;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Names what a statement changes: {@code UPDATE shop.orders}, {@code DELETE shop.orders}, the kinds of columns to which an
 * INSERT or UPDATE assigns values, such as {@code secrets in shop.users}, and {@code log entries in shop.audit_log}. Kinds
 * are known by the names of columns. Not thread-safe.
 */
public final class ChangedColumns {

    /** Only this part of a statement is read, characters. */
    private static final int MAX_LENGTH = 4_096;
    /** Two names of a server with a point between them, characters. */
    private static final int MAX_TABLE = 129;

    private static final Set<String> ASSIGNING = Set.of("UPDATE", "INSERT", "REPLACE");
    private static final Set<String> REPORTED = Set.of("UPDATE", "DELETE");
    private static final String IN = " in ";
    private static final String LOG_ENTRIES = "log entries" + IN;
    private static final String SEPARATOR = ",";

    /** Tables in which applications record what their users did. */
    private static final Pattern LOG =
            Pattern.compile("(?i)(.*[._])?([a-z]+_)?(audits?|audit_?(trail|log|entry|entries|events?)|trail"
                    + "|logs?|(access|activity|change|security|login|event)_?logs?|history|histories|journal|[a-z]*protokoll|bitacora"
                    + "|auditoria|historial|dziennik)");

    private static final Pattern COLUMN = Pattern.compile("([a-z0-9_$?]{1,64})`? ?=");
    private static final Pattern LISTED = Pattern.compile("[a-z0-9_$?]{1,64}");
    private static final Pattern ON_DUPLICATE = Pattern.compile("\\bon duplicate key update\\b");
    private static final Pattern SET = Pattern.compile("\\bset\\b");
    private static final Pattern WHERE = Pattern.compile("\\bwhere\\b");
    private static final Pattern VALUES = Pattern.compile("\\b(values?|select)\\b");

    /** Kinds of columns whose first change by an account is a reason to ask. */
    private enum Kind {
        SECRETS(
                "(.*_)?(pwd|pw|pass|otp|totp|mfa|\\?fa|pin|mdp|hash|salt|digest)(_.*)?|.*(password|passwd|kennwort|passwort|token"
                        + "|secret|contrasena|senha|wachtwoord|jeton|apikey|api_key|private_key|recovery_code).*|clave(_.*)?"),
        RIGHTS("(.*_)?(role|roles|role_?id|is_?admin|admin|is_?staff|is_?superuser|superuser|is_?moderator|permissions?"
                + "|privileges?|acl|scopes?|group_?id|usergroup|trust_?level|access_?level|user_?level|rolle|rollen_?id"
                + "|gruppe|berechtigung(en)?|rol|rol_?id|perfil|perfil_?id|permisos|nivel_?acceso|profil_?id|droits"
                + "|niveau_?acces|ruolo|ruolo_?id|permessi|es_?admin|ist_?admin|est_?admin|papel|rola)"),
        BANK_DETAILS(
                "(.*_)?(iban|bic|swift|swift_?code|rib|account_?number|account_?no|routing_?number|sort_?code|bank_?account"
                        + "|kontonummer|konto_?nr|bankverbindung|cuenta_?bancaria|clabe|numero_?compte|conto_?corrente"
                        + "|payout_?account|wallet_?address)(_.*)?"),
        BALANCES(
                "(.*_)?(balance|balances|credit_?limit|saldo|solde|kontostand|guthaben|salary|wage|gehalt|lohn|salario|salaire"
                        + "|stipendio|bonus|payout|payout_?amount)(_.*)?");

        private final Pattern columns;

        Kind(String columns) {
            this.columns = Pattern.compile(columns);
        }

        /** Returns the name in alerts, such as {@code bank details}. */
        String label() {
            return name().toLowerCase(Locale.ROOT).replace('_', ' ');
        }
    }

    private final Map<Kind, String> labels = new EnumMap<>(Kind.class);
    private final UnaryOperator<String> kinds = new RecentShapes(this::kindsOf);

    public ChangedColumns() {
        for (Kind kind : Kind.values()) {
            labels.put(kind, kind.label());
        }
    }

    /** Returns whether a value names a kind of columns, not only a table. */
    public static boolean isKind(String value) {
        return value.contains(IN);
    }

    /** Returns what the event changes; empty for a statement that changes no rows. */
    public List<FieldValue> of(DetectionEvent event) {
        List<FieldValue> tables = event.values("table_written");
        if (tables.isEmpty()) {
            return List.of();
        }
        String verb = DetectorEventFields.text(event, "verb");
        boolean isReported = REPORTED.contains(verb);
        String assigned = ASSIGNING.contains(verb) ? kinds.apply(shortened(DetectorEventFields.statement(event))) : "";
        if (!isReported && assigned.isEmpty()) {
            return List.of();
        }
        List<FieldValue> changes = new ArrayList<>();
        for (FieldValue table : tables) {
            if (isReported) {
                changes.add(FieldValue.of(verb + ' ' + table.text()));
                if (table.text().length() <= MAX_TABLE
                        && LOG.matcher(table.text()).matches()) {
                    changes.add(FieldValue.of(LOG_ENTRIES + table.text()));
                }
            }
            for (String kind : assigned.isEmpty() ? new String[0] : assigned.split(SEPARATOR)) {
                changes.add(FieldValue.of(kind + IN + table.text()));
            }
        }
        return changes;
    }

    private static String shortened(String statement) {
        return statement.length() <= MAX_LENGTH ? statement : statement.substring(0, MAX_LENGTH);
    }

    /** Returns the kinds of the columns that a statement assigns, separated by commas. */
    private String kindsOf(String statement) {
        List<String> columns = new ArrayList<>();
        if (statement.startsWith("update")) {
            assigned(statement, SET, columns);
        } else {
            listed(statement, columns);
            assigned(statement, ON_DUPLICATE, columns);
        }
        return labels.entrySet().stream()
                .filter(kind -> columns.stream()
                        .anyMatch(
                                column -> kind.getKey().columns.matcher(column).matches()))
                .map(Map.Entry::getValue)
                .reduce((one, other) -> one + SEPARATOR + other)
                .orElse("");
    }

    /** Adds the columns of the assignments after a keyword. */
    private static void assigned(String statement, Pattern keyword, List<String> columns) {
        Matcher start = keyword.matcher(statement);
        if (!start.find()) {
            return;
        }
        Matcher where = WHERE.matcher(statement);
        int end = where.find(start.end()) ? where.start() : statement.length();
        Matcher column = COLUMN.matcher(statement).region(start.end(), end);
        while (column.find()) {
            columns.add(column.group(1));
        }
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

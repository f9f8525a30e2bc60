package io.tailrace.fingerprint.flag;

import io.tailrace.fingerprint.token.ConditionTokens;
import io.tailrace.fingerprint.token.ConditionTokens.Kind;
import io.tailrace.flag.EventFlag;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.SqlMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Detects rows that make an account of an application its administrator: {@code SET is_admin = 1}, {@code (role) VALUES
 * ('admin')}, WordPress's capabilities, Moodle's list of administrators. Not thread-safe.
 */
public final class AdministratorValueFlags implements LiteralFlag {

    private static final byte[] INSERT = ByteText.ascii("insert");
    private static final byte[] REPLACE = ByteText.ascii("replace");
    private static final byte[] UPDATE = ByteText.ascii("update");
    private static final byte[] SET = ByteText.ascii("set");
    private static final byte[] INTO = ByteText.ascii("into");
    private static final byte[] SELECT = ByteText.ascii("select");
    private static final byte[] VALUES = ByteText.ascii("values");

    /** The setting of Moodle that lists them: {@code WHERE name = 'siteadmins'}. */
    private static final String SITE_ADMINS = "siteadmins";

    /** The last word of a table or column whose texts name roles or groups. */
    private static final Pattern PLACE = Pattern.compile("(?:.*[._`])?(?:user_?meta|user_?roles?|roles?|role_?name"
            + "|assignments?|groups?|group_?name|group_?users?|user_?groups?|capabilities|permissions?|config"
            + "|rollen?|gruppen?|berechtigung(?:en)?|rol|grupos?|perfil|permisos?|profil|droits?|groupes?|ruolo|ruoli|gruppo"
            + "|profilo|papel|permiss(?:ao|oes)|rola|grupa|groep|rechten|roll|roller|rolle_?(?:id|navn)|rooli|roolit|ryhma|grupp"
            + "|uloga|uloge|vloga|szerep|szerepkor|csoport|skupina|opravneni|roluri|rolurile|drepturi|grup|peran|yetki|rettigheter"
            + "|rettigheder|behorighet|loma|grupes?|vai_?tro|oigused)`?");
    /** A column that is 1 or TRUE for administrators. */
    private static final Pattern MARK = Pattern.compile(
            "(?:.*[._`])?(?:(?:is|es|ist|est|e)_?)?(?:admin|administrador|administrateur|amministratore|administrator|(?:super|site|system)_?(?:admin|user)|superuser_access)`?");

    private static final String NAME =
            "(?:role[_ ])?(?:(?:super|site|system|global)[_ -]?)?admin(?:istrat(?:or|eur|ore)|istrador)?s?|super_?user|sysadmin|beheerder";
    private static final Pattern VALUE =
            Pattern.compile("(?is)\\s*(?:" + NAME + ")\\s*|.*\\\\?\"(?:" + NAME + ")\\\\?\".*|siteadmins");
    private static final Pattern NO = Pattern.compile("(?i)0*|n|no|false|f|off|''");

    /** Length of a text or name that is inspected, bytes. */
    private static final int MAX_LENGTH = 512;

    private final ConditionTokens tokens;
    private final List<Integer> marks = new ArrayList<>();
    private boolean masked;
    private boolean isPlace;

    public AdministratorValueFlags(SqlMode mode) {
        tokens = new ConditionTokens(mode);
    }

    @Override
    public EventFlag flag() {
        return EventFlag.ADMINISTRATOR_VALUE;
    }

    @Override
    public boolean isIn(byte[] bytes, int from, int to, boolean masked) {
        this.masked = masked;
        tokens.start(bytes, from, to);
        boolean update = tokens.is(UPDATE);
        if (!update && !tokens.is(INSERT) && !tokens.is(REPLACE)) {
            return false;
        }
        isPlace = false;
        marks.clear();
        tokens.next();
        if (!update) {
            readTable();
        }
        return assignsOne(!update);
    }

    /** Reads the table of an INSERT and its list of columns, and notes the places of those that mark administrators. */
    private void readTable() {
        while (tokens.kind() == Kind.NAME && !isRows() || tokens.is(INTO)) {
            isPlace |= PLACE.matcher(name()).matches();
            tokens.next();
        }
        int place = 0;
        while (tokens.kind() == Kind.OPEN || tokens.kind() == Kind.NAME && !isRows() || tokens.isComma()) {
            if (tokens.kind() == Kind.NAME) {
                String name = name();
                isPlace |= PLACE.matcher(name).matches();
                if (MARK.matcher(name).matches()) {
                    marks.add(place);
                }
            }
            place += tokens.isComma() ? 1 : 0;
            tokens.next();
        }
    }

    private boolean isRows() {
        return tokens.is(VALUES) || tokens.is(SELECT) || tokens.is(SET);
    }

    /** Reads values and assignments; returns whether one makes an administrator. */
    private boolean assignsOne(boolean fromStart) {
        boolean assigns = fromStart;
        int depth = 0;
        int place = 0;
        while (tokens.kind() != Kind.END) {
            if (tokens.is(SET) || tokens.is(UPDATE)) {
                assigns = true;
            } else if (tokens.kind() == Kind.WHERE) {
                assigns = false;
            }
            boolean isMarked = depth == 1 && marks.contains(place) && isYes();
            if (assigns && isMarked || isAssignedMark(assigns) || isAdministrator(assigns)) {
                return true;
            }
            if (tokens.kind() == Kind.OPEN) {
                place = depth == 0 ? 0 : place;
                depth++;
            } else if (tokens.kind() == Kind.CLOSE) {
                depth--;
            } else if (tokens.isComma() && depth == 1) {
                place++;
            }
            tokens.next();
        }
        return false;
    }

    /** Reads a name; returns whether it is a mark to which a value other than 0 is assigned. */
    private boolean isAssignedMark(boolean assigns) {
        if (tokens.kind() != Kind.NAME) {
            return false;
        }
        String name = name();
        isPlace |= PLACE.matcher(name).matches();
        if (!assigns || !MARK.matcher(name).matches()) {
            return false;
        }
        int token = tokens.from();
        tokens.next();
        boolean assigned = tokens.kind() == Kind.COMPARISON && tokens.end() - tokens.from() == 1;
        tokens.next();
        boolean set = assigned && isYes();
        tokens.back(token);
        return set;
    }

    private boolean isAdministrator(boolean assigns) {
        if (!isPlace || tokens.kind() != Kind.TEXT && !(masked && tokens.kind() == Kind.PLACEHOLDER)) {
            return false;
        }
        return masked || VALUE.matcher(text()).matches() && (assigns || text().equalsIgnoreCase(SITE_ADMINS));
    }

    private boolean isYes() {
        return switch (tokens.kind()) {
            case TRUE, CODED -> true;
            case PLACEHOLDER -> masked;
            case NUMBER, TEXT -> !NO.matcher(text()).matches();
            default -> false;
        };
    }

    private String name() {
        return ByteText.utf8(tokens.bytes(), Math.max(tokens.from(), tokens.end() - MAX_LENGTH), tokens.end())
                .toLowerCase(Locale.ROOT);
    }

    private String text() {
        int quote = tokens.kind() == Kind.TEXT ? 1 : 0;
        int from = tokens.from() + quote;
        int to = Math.min(Math.max(from, tokens.end() - quote), from + MAX_LENGTH);
        return ByteText.utf8(tokens.bytes(), from, to);
    }
}

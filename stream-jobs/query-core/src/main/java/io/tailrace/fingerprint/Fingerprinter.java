package io.tailrace.fingerprint;

import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.SqlBytes;
import io.tailrace.statement.StatementReader;
import io.tailrace.statement.StatementTables;
import io.tailrace.tags.StatementTags;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.UnaryOperator;

/**
 * Finds the class of a statement. The rules are those of {@value #RULE_SET}; docs/FINGERPRINT.md lists them with a
 * case each, and where and why they differ from Percona's. Not thread-safe.
 */
public final class Fingerprinter {

    /** Name and version of the rules: ids of different rule sets must not be compared. */
    public static final String RULE_SET = "tailrace-2";

    /** The rules before these, whose ids {@link #previousId} tells. */
    public static final String PREVIOUS_RULE_SET = "tailrace-1";

    /** Flag of an event whose accounts may be more than it names: {@link #accountsAreIncomplete}. */
    public static final String ACCOUNTS_INCOMPLETE = "accounts_incomplete";

    /** Longest text of a fingerprint, bytes; its id is of the whole. */
    public static final int MAX_TEXT_LENGTH = 16 << 10;

    /** Bytes of a statement whose literals are read. */
    private static final int MAX_READ_LENGTH = 1 << 20;

    private static final byte[] DUMP = ByteText.ascii("SELECT /*!40001 SQL_NO_CACHE */ * FROM `");
    private static final List<String> TOOL_VERBS = List.of("select ", "replace ", "insert ", "update ", "delete ");
    /** Files, and what is injected. */
    private static final List<String> NO_TOOL = List.of("outfile", "dumpfile", "load_file", "union", ";");

    private static final byte[] ADMINISTRATOR = ByteText.ascii("administrator command: ");
    /** {@code administrator command: } and the longest name of a command, with room for others. Bytes. */
    private static final int MAX_COMMAND_LENGTH = 64;

    private static final byte[] USE = ByteText.ascii("use");
    private static final byte[] CALL = ByteText.ascii("call");
    private static final NormalizedStatement NOTHING = shape(new byte[0], 0, noTables(""));

    private final SqlMode mode;
    private final Masker masker;
    private final NameMask names;
    private final boolean namesKept;
    private final ListCollapser collapser = new ListCollapser();
    private final StatementReader reader = new StatementReader();
    private final ShapeCache shapes = new ShapeCache();
    private final ConstantConditionFlags conditions;
    private final DynamicStatementFlags hidden;
    private final SettingFlags assigned;
    private final AccountNames accounts;
    private boolean accountsIncomplete;
    /** By the previous rules; null if these are, or while none of their ids was asked for. */
    private Fingerprinter previous;

    /** For servers of the default {@code sql_mode}. */
    public Fingerprinter() {
        this(SqlMode.DEFAULT);
    }

    public Fingerprinter(SqlMode mode) {
        this(mode, true);
    }

    private Fingerprinter(SqlMode mode, boolean namesKept) {
        this.mode = mode;
        this.namesKept = namesKept;
        masker = new Masker(mode, namesKept);
        names = new NameMask(namesKept);
        conditions = new ConstantConditionFlags(mode);
        hidden = new DynamicStatementFlags(mode);
        assigned = new SettingFlags(mode);
        accounts = new AccountNames(mode);
    }

    /** By the rules of {@value #PREVIOUS_RULE_SET}. */
    static Fingerprinter ofPreviousRules(SqlMode mode) {
        return new Fingerprinter(mode, false);
    }

    /**
     * The id of the statement by the rules of {@value #PREVIOUS_RULE_SET}: under it stands what was stored before.
     *
     * @param shape what {@link #statement} said of the statement
     */
    public long previousId(NormalizedStatement shape, byte[] bytes, int from, int to) {
        if (!shape.isRenamed()) {
            return shape.queryId();
        }
        previous = previous == null ? ofPreviousRules(mode) : previous;
        return previous.statement(bytes, from, to).queryId();
    }

    /** The class of the statement in the range; a final semicolon and white space do not count. */
    public NormalizedStatement statement(byte[] bytes, int from, int to) {
        int start = ByteText.skipBlanks(bytes, from, to);
        int end = withoutSemicolon(bytes, start, to);
        if (isAdministratorCommand(bytes, start, end)) {
            return administratorCommand(bytes, start, end);
        }
        masker.mask(bytes, start, end);
        int length = withoutSemicolon(masker.bytes(), 0, masker.length());
        if (length == 0) {
            return NOTHING;
        }
        String tool = ByteText.startsWith(bytes, start, end, DUMP)
                ? "mysqldump"
                : masker.hasToolComment() ? "percona-toolkit" : "";
        NormalizedStatement shape = tool.isEmpty() || !isOfATool(length) ? statement(length) : named(tool, length);
        return masker.isDoubtful() ? shape.withUnknownTables() : shape;
    }

    /**
     * The statement without literals and comments, in lower case, its lists as long as they are: the text of which
     * {@link #statement} makes a class.
     */
    public String masked(byte[] bytes, int from, int to) {
        masker.mask(bytes, ByteText.skipBlanks(bytes, from, to), withoutSemicolon(bytes, from, to));
        return ByteText.utf8(masker.bytes(), 0, masker.length());
    }

    /** The text that was read last ends within a literal, or a literal seems to end within a word: its quotes lie. */
    public boolean isDoubtful() {
        return masker.isDoubtful();
    }

    /**
     * What the comments around a statement tell of its origin. Where its end may lie within a literal, only what stands
     * before the first token counts.
     *
     * @param bytes those of the latest call of {@link #statement}, unchanged
     */
    public StatementTags tags(byte[] bytes) {
        int end = withoutSemicolon(masker.bytes(), 0, masker.length());
        return masker.comments().tags(bytes, masker.isDoubtful() ? Integer.MAX_VALUE : end);
    }

    /**
     * What the statement's literals tell and its class does not: flags of a fixed set (docs/FINGERPRINT.md), never a
     * literal. Only the first {@value #MAX_READ_LENGTH} bytes are read.
     *
     * @param shape what {@link #statement} said of it
     */
    public List<String> flags(NormalizedStatement shape, byte[] bytes, int from, int to) {
        if (!shape.literalsMatter()) {
            return List.of();
        }
        int end = Math.min(to, from + MAX_READ_LENGTH);
        List<String> flags = new ArrayList<>(conditions.of(bytes, from, end));
        flags.addAll(hidden.of(bytes, from, end));
        flags.addAll(assigned.of(bytes, from, end));
        return flags;
    }

    /**
     * The accounts and roles that the statement makes, changes or drops, or to or from which it gives or takes rights, as it
     * names them: {@code user@host}, or a name alone. A user's name that holds {@code @} or a backtick stands in
     * backticks. Never a password. Only the first {@value #MAX_READ_LENGTH} bytes are read.
     *
     * @param shape what {@link #statement} said of it
     * @param user whose session it is, for {@code CURRENT_USER}; empty where nobody knows
     */
    public List<String> accounts(NormalizedStatement shape, byte[] bytes, int from, int to, String user) {
        accountsIncomplete = shape.accountsMatter() && to - from > MAX_READ_LENGTH;
        if (!shape.accountsMatter()) {
            return List.of();
        }
        List<String> found = accounts.of(bytes, from, Math.min(to, from + MAX_READ_LENGTH), user);
        accountsIncomplete |= accounts.areIncomplete();
        return found;
    }

    /**
     * The statement of the latest call of {@link #accounts} may concern others, too: it seems cut, holds a name that
     * cannot be read or more than are kept, or prepares a text of which a part is missing.
     */
    public boolean accountsAreIncomplete() {
        return accountsIncomplete;
    }

    /** Anybody may write a tool's comment: what no tool does keeps its own class. */
    private boolean isOfATool(int length) {
        String text = ByteText.utf8(masker.bytes(), 0, length).toLowerCase(Locale.ROOT);
        return TOOL_VERBS.stream().anyMatch(text::startsWith)
                && NO_TOOL.stream().noneMatch(text::contains);
    }

    /** The class of {@code administrator command: Quit}; of anything else as that of a statement. */
    public NormalizedStatement administratorCommand(byte[] bytes, int from, int to) {
        int end = withoutSemicolon(bytes, from, to);
        if (!isAdministratorCommand(bytes, from, end)) {
            return statement(bytes, from, to);
        }
        masker.comments().clear();
        NormalizedStatement known = shapes.get(bytes, from, end);
        if (known != null) {
            return known;
        }
        byte[] text = Arrays.copyOfRange(bytes, from, end);
        return keep(bytes, from, end, shape(text, text.length, noTables("ADMIN")));
    }

    /** What servers write where there is no statement: their names of commands are words. */
    private static boolean isAdministratorCommand(byte[] bytes, int from, int to) {
        if (!ByteText.startsWith(bytes, from, to, ADMINISTRATOR) || to - from > MAX_COMMAND_LENGTH) {
            return false;
        }
        int i = from + ADMINISTRATOR.length;
        while (i < to && isOfCommand(bytes[i])) {
            i++;
        }
        return i == to;
    }

    private static boolean isOfCommand(byte b) {
        return b == ' ' || SqlBytes.isWord(b) && !ByteText.isDigit(b);
    }

    /**
     * A table's name as it stands in fingerprints of statements that read or write rows: {@code orders_?} for
     * {@code Orders_2024}.
     */
    public static String nameInClass(String table) {
        return NameMask.masked(table);
    }

    /** Tables as the fingerprint of their statement names them; those that become one are in the list once. */
    public static List<String> namesInClass(List<String> tables, String fingerprint) {
        UnaryOperator<String> name =
                NameMask.keeps(fingerprint) ? table -> table.toLowerCase(Locale.ROOT) : Fingerprinter::nameInClass;
        return tables.stream().map(name).distinct().toList();
    }

    private static StatementTables noTables(String verb) {
        return new StatementTables(verb, List.of(), List.of(), true);
    }

    private static int withoutSemicolon(byte[] bytes, int from, int to) {
        int end = ByteText.trimBlanks(bytes, from, to);
        while (end > from && bytes[end - 1] == ';') {
            end = ByteText.trimBlanks(bytes, from, end - 1);
        }
        return end;
    }

    /** {@code length} is that of the masked text without a semicolon that a comment follows. */
    private NormalizedStatement statement(int length) {
        byte[] shorter = length > ShapeCache.MAX_KEY_LENGTH ? RepeatedRows.removed(masker.bytes(), length) : null;
        return shorter == null ? statement(masker.bytes(), length) : statement(shorter, shorter.length);
    }

    private NormalizedStatement statement(byte[] masked, int length) {
        NormalizedStatement known = shapes.get(masked, 0, length);
        if (known != null) {
            return known;
        }
        if (!namesKept && masker.startsWithVerb(USE)) {
            return keep(masked, 0, length, named("use ?", length));
        }
        StatementTables tables = reader.read(masked, length);
        if (masker.isVerb(CALL)) {
            names.call(masked, length);
            return keep(masked, 0, length, shape(names.bytes(), names.length(), tables));
        }
        int read = Math.min(length, MAX_READ_LENGTH);
        boolean literals = conditions.arePossible(masked, read)
                || hidden.arePossible(masked, read)
                || assigned.arePossible(masked, read);
        boolean named = accounts.arePossible(masked, read);
        names.mask(masked, length);
        collapser.collapse(names.bytes(), names.length());
        boolean renamed = namesKept && (masker.isRewritten() || names.areKept() || masker.startsWithVerb(USE));
        return keep(masked, 0, length, shape(collapser.bytes(), collapser.length(), tables, literals, named, renamed));
    }

    /** A class with a fixed text. */
    private NormalizedStatement named(String name, int length) {
        byte[] text = ByteText.ascii(name);
        return shape(text, text.length, reader.read(masker.bytes(), length));
    }

    private NormalizedStatement keep(byte[] bytes, int from, int to, NormalizedStatement shape) {
        shapes.put(bytes, from, to, shape);
        return shape;
    }

    private static NormalizedStatement shape(byte[] text, int length, StatementTables tables) {
        return shape(text, length, tables, false, false, false);
    }

    private static NormalizedStatement shape(
            byte[] text, int length, StatementTables tables, boolean literals, boolean accounts, boolean renamed) {
        MessageDigest md5 = md5();
        md5.update(text, 0, length);
        byte[] digest = md5.digest();
        long id = 0;
        for (int i = 8; i < 16; i++) {
            id = id << 8 | digest[i] & 0xff;
        }
        return new NormalizedStatement(
                ByteText.utf8(text, 0, shownLength(text, length)), id, tables, literals, accounts, renamed);
    }

    /** At most {@link #MAX_TEXT_LENGTH} bytes that do not cut a UTF-8 character. */
    private static int shownLength(byte[] text, int length) {
        if (length <= MAX_TEXT_LENGTH) {
            return length;
        }
        int end = MAX_TEXT_LENGTH;
        while (end > MAX_TEXT_LENGTH - 4 && (text[end] & 0xc0) == 0x80) {
            end--;
        }
        return end;
    }

    private static MessageDigest md5() {
        try {
            return MessageDigest.getInstance("MD5");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has MD5", e);
        }
    }
}

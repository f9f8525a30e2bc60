package io.tailrace.fingerprint;

import io.tailrace.fingerprint.account.AccountNames;
import io.tailrace.fingerprint.flag.LargeLimit;
import io.tailrace.fingerprint.flag.LiteralFlags;
import io.tailrace.fingerprint.flag.LogEntryText;
import io.tailrace.fingerprint.flag.StoredInjection;
import io.tailrace.fingerprint.flag.StoredScript;
import io.tailrace.fingerprint.mask.ListCollapser;
import io.tailrace.fingerprint.mask.Masker;
import io.tailrace.fingerprint.mask.NameMask;
import io.tailrace.fingerprint.mask.RepeatedRows;
import io.tailrace.flag.EventFlag;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.SqlBytes;
import io.tailrace.lexer.SqlMode;
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
 * Determines the class of a statement by the rules of {@value #RULE_SET}. docs/FINGERPRINT.md lists the rules with an
 * example each, and their differences from Percona's with the reasons. Not thread-safe.
 */
public final class Fingerprinter {

    /** Name and version of the rules. Ids of different rule sets are not comparable. */
    public static final String RULE_SET = "tailrace-2";

    /** The rules before these, which {@link #previousId} applies. */
    public static final String PREVIOUS_RULE_SET = "tailrace-1";

    /** Longest text of a fingerprint, bytes. The id is computed from the whole text. */
    public static final int MAX_TEXT_LENGTH = 16 << 10;

    /** Number of bytes of a statement whose literals are read. */
    private static final int MAX_READ_LENGTH = 1 << 20;

    private static final byte[] DUMP = ByteText.ascii("SELECT /*!40001 SQL_NO_CACHE */ * FROM `");
    private static final List<String> TOOL_VERBS = List.of("select ", "replace ", "insert ", "update ", "delete ");
    /** Parts of statements that access files or occur in injections. */
    private static final List<String> NO_TOOL = List.of("outfile", "dumpfile", "load_file", "union", ";");

    private static final byte[] ADMINISTRATOR = ByteText.ascii("administrator command: ");
    /** Length of {@code administrator command: } and the longest name of a command, with a margin, bytes. */
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
    private final LiteralFlags literals;
    private final StoredInjection injections;
    private final StoredScript scripts;
    private final AccountNames accounts;
    private boolean accountsIncomplete;
    /** Applies the previous rules; null if this object does, or until one of their ids is requested. */
    private Fingerprinter previous;

    /** Creates a fingerprinter for servers with the default {@code sql_mode}. */
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
        literals = new LiteralFlags(mode);
        injections = new StoredInjection(mode);
        scripts = new StoredScript(mode);
        accounts = new AccountNames(mode);
    }

    /** Creates a fingerprinter that applies the rules of {@value #PREVIOUS_RULE_SET}. */
    static Fingerprinter ofPreviousRules(SqlMode mode) {
        return new Fingerprinter(mode, false);
    }

    /**
     * Returns the id of the statement by the rules of {@value #PREVIOUS_RULE_SET}, under which older data is stored.
     *
     * @param shape result of {@link #statement} for this statement
     */
    public long previousId(NormalizedStatement shape, byte[] bytes, int from, int to) {
        if (!shape.isRenamed()) {
            return shape.queryId();
        }
        previous = previous == null ? ofPreviousRules(mode) : previous;
        return previous.statement(bytes, from, to).queryId();
    }

    /** Returns the class of the statement in the range, without a final semicolon and surrounding white space. */
    public NormalizedStatement statement(byte[] bytes, int from, int to) {
        int start = ByteText.skipBlanks(bytes, from, to);
        int end = withoutSemicolon(bytes, start, to);
        if (isAdministratorCommand(bytes, start, end)) {
            return administratorCommand(bytes, start, end);
        }
        masker.mask(bytes, start, end);
        int length = withoutSemicolon(masker.bytes(), 0, masker.length());
        if (length == 0) {
            return masker.isDoubtful() ? NOTHING.withUnknownTables() : NOTHING;
        }
        String tool = ByteText.startsWith(bytes, start, end, DUMP)
                ? "mysqldump"
                : masker.hasToolComment() ? "percona-toolkit" : "";
        NormalizedStatement shape = tool.isEmpty() || !isOfATool(length) ? statement(length) : named(tool, length);
        return masker.isDoubtful() || masker.hasNoBreakSpaces() ? shape.withUnknownTables() : shape;
    }

    /**
     * Returns the statement without literals and comments, in lower case, with lists of their original length: the
     * text from which {@link #statement} derives a class.
     */
    public String masked(byte[] bytes, int from, int to) {
        masker.mask(bytes, ByteText.skipBlanks(bytes, from, to), withoutSemicolon(bytes, from, to));
        return ByteText.utf8(masker.bytes(), 0, masker.length());
    }

    /**
     * Returns whether the latest text ends within a literal, or a literal seems to end within a word, so that its
     * quotes are not reliable.
     */
    public boolean isDoubtful() {
        return masker.isDoubtful();
    }

    /**
     * Returns the tags in the comments around a statement. If the statement may end within a literal, only comments
     * before the first token count.
     *
     * @param bytes the unchanged bytes of the latest call of {@link #statement}
     */
    public StatementTags tags(byte[] bytes) {
        int end = withoutSemicolon(masker.bytes(), 0, masker.length());
        return masker.comments().tags(bytes, masker.isDoubtful() ? Integer.MAX_VALUE : end);
    }

    /**
     * Returns flags for properties of the statement's literals and comments, which its class does not show: wire names
     * of {@link EventFlag} and {@link io.tailrace.flag.EventFlagFamily}, which never contain a literal. Only the first
     * {@value #MAX_READ_LENGTH} bytes are read. The statement must be that of the latest call of {@link #statement}.
     *
     * @param shape result of {@link #statement} for this statement
     */
    public List<String> flags(NormalizedStatement shape, byte[] bytes, int from, int to) {
        boolean cut = masker.comments().cutStatement(bytes, from);
        int end = Math.min(to, from + MAX_READ_LENGTH);
        boolean forges = LogEntryText.isIn(bytes, from, end);
        boolean unclear = masker.dependsOnServer();
        List<String> limit = LargeLimit.of(bytes, from, withoutSemicolon(bytes, from, to));
        boolean stores = masker.hasQuotesInText() && !unclear && injections.isIn(bytes, from, end);
        boolean runs = !unclear && scripts.isIn(bytes, from, end);
        boolean comments = masker.comments().replaceBlanks();
        if (!shape.literalsMatter() && !cut && !forges && !unclear && !stores && !runs && !comments) {
            return limit;
        }
        List<String> flags = new ArrayList<>();
        if (unclear) {
            EventFlag.VERSION_COMMENT_AMBIGUOUS.addTo(flags);
        } else if (shape.literalsMatter() || forges) {
            literals.addTo(flags, bytes, from, end);
        }
        addIf(cut, EventFlag.COMMENT_CUTS_STATEMENT, flags);
        addIf(forges, EventFlag.LOG_ENTRY_IN_TEXT, flags);
        addIf(comments, EventFlag.COMMENTS_FOR_BLANKS, flags);
        addIf(stores, EventFlag.INJECTION_STORED, flags);
        addIf(runs, EventFlag.SCRIPT_STORED, flags);
        if (!unclear) {
            flags.addAll(limit);
        }
        return flags;
    }

    private static void addIf(boolean condition, EventFlag flag, List<String> flags) {
        if (condition) {
            flag.addTo(flags);
        }
    }

    /**
     * Returns the accounts and roles that the statement creates, alters or drops, or whose privileges it grants or
     * revokes, as the statement names them: {@code user@host}, or a name alone. A user's name that contains {@code @}
     * or a backtick is enclosed in backticks. The result never contains a password. Only the first {@value
     * #MAX_READ_LENGTH} bytes are read.
     *
     * @param shape result of {@link #statement} for this statement
     * @param user user of the session, for {@code CURRENT_USER}; empty if unknown
     */
    public List<String> accounts(NormalizedStatement shape, byte[] bytes, int from, int to, String user) {
        accountsIncomplete = masker.dependsOnServer() || shape.accountsMatter() && to - from > MAX_READ_LENGTH;
        if (masker.dependsOnServer() || !shape.accountsMatter()) {
            return List.of();
        }
        List<String> found = accounts.of(bytes, from, Math.min(to, from + MAX_READ_LENGTH), user);
        accountsIncomplete |= accounts.areIncomplete();
        return found;
    }

    /**
     * Returns whether the statement of the latest call of {@link #accounts} may concern further accounts: it seems to
     * be cut, contains unreadable names or more than the limit, or prepares a text of which a part is missing.
     */
    public boolean accountsAreIncomplete() {
        return accountsIncomplete;
    }

    /**
     * Returns whether a tool may have written the statement. Any client can write a tool's comment, so statements
     * that no tool runs keep their own class.
     */
    private boolean isOfATool(int length) {
        String text = ByteText.utf8(masker.bytes(), 0, length).toLowerCase(Locale.ROOT);
        if (namesKept && masker.hasToolComment()) {
            return ChecksumStatement.matches(text);
        }
        return TOOL_VERBS.stream().anyMatch(text::startsWith)
                && NO_TOOL.stream().noneMatch(text::contains);
    }

    /** Returns the class of {@code administrator command: Quit}; any other text is treated as a statement. */
    public NormalizedStatement administratorCommand(byte[] bytes, int from, int to) {
        int end = withoutSemicolon(bytes, from, to);
        if (!isAdministratorCommand(bytes, from, end)) {
            return statement(bytes, from, to);
        }
        masker.clear();
        NormalizedStatement known = shapes.get(bytes, from, end);
        if (known != null) {
            return known;
        }
        byte[] text = Arrays.copyOfRange(bytes, from, end);
        return keep(bytes, from, end, shape(text, text.length, noTables("ADMIN")));
    }

    /**
     * Returns whether the text is the name of a command that servers write in place of a statement; it consists of
     * words.
     */
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
     * Returns a table's name as in fingerprints of statements that read or write rows: {@code orders_?} for {@code
     * Orders_2024}.
     */
    public static String nameInClass(String table) {
        return NameMask.masked(table);
    }

    /** Returns the tables as the fingerprint of their statement names them, without duplicates. */
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

    /** Computes the class; {@code length} is that of the masked text without a semicolon that a comment follows. */
    private NormalizedStatement statement(int length) {
        int cached = ShapeCache.MAX_KEY_LENGTH;
        byte[] shorter = length > cached ? RepeatedRows.removed(masker.bytes(), length, cached) : null;
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
        boolean call = masker.isVerb(CALL);
        if (call && !names.call(masked, length)) {
            return keep(masked, 0, length, shape(names.bytes(), names.length(), tables));
        }
        int read = Math.min(length, MAX_READ_LENGTH);
        boolean literal = literals.arePossible(masked, read);
        boolean named = accounts.arePossible(masked, read);
        if (!call) {
            names.mask(masked, length);
        }
        collapser.collapse(names.bytes(), names.length());
        boolean renamed = namesKept && (call || masker.isRewritten() || names.areKept() || masker.startsWithVerb(USE));
        return keep(masked, 0, length, shape(collapser.bytes(), collapser.length(), tables, literal, named, renamed));
    }

    /** Returns a class with a fixed text. */
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

    /** Returns the length of at most {@link #MAX_TEXT_LENGTH} bytes that does not split a UTF-8 character. */
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

package io.tailrace.fingerprint.flag;

import io.tailrace.fingerprint.token.ConditionTokens;
import io.tailrace.fingerprint.token.ConditionTokens.Kind;
import io.tailrace.fingerprint.token.StatementText;
import io.tailrace.flag.EventFlag;
import io.tailrace.flag.EventFlagFamily;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.SqlMode;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Detects prepared statements: the text of {@code PREPARE … FROM}, of {@code EXECUTE IMMEDIATE}, and texts that are
 * assigned to a user variable, also by {@code SELECT … INTO}, from which a statement may be prepared. The text is a literal, so the fingerprint does
 * not show it. These flags identify only the kind of statement with which it begins, such as {@code dynamic_grant} or
 * {@code dynamic_drop_table}. Not thread-safe.
 */
public final class DynamicStatementFlags {

    /** In {@code SET@a}, the word before the variable belongs to the same token. */
    private static final byte AT = '@';

    private static final byte[] FROM = ByteText.ascii("from");
    private static final byte[] IMMEDIATE = ByteText.ascii("immediate");
    private static final byte[] PREPARE = ByteText.ascii("prepare");
    private static final byte[] SELECT = ByteText.ascii("select");
    private static final byte[] INTO = ByteText.ascii("into");

    /** Length of a text that is inspected, bytes. */
    private static final int MAX_LENGTH = 4096;

    private static final int MAX_TEXTS = 256;

    private static final Pattern STATEMENT = Pattern.compile(
            "(?is)\\s*(?:(create|alter|drop|rename)\\s+(?:or\\s+replace\\s+)?(?:definer\\s*=\\s*\\S+\\s+)?(?:aggregate\\s+)?"
                    + "(user|role|function|procedure|event|trigger|database|schema|table|server|view)\\b"
                    + "|(grant)\\s.*\\sto\\s|(revoke)\\s.*\\sfrom\\s"
                    + "|(set)\\s+(?:@@)?(global|persist|password)\\b|(?:un)?(install)\\s+(plugin|component|soname)\\b"
                    + "|(load)\\s+(data|xml)\\b|(purge|reset)\\s+(binary|master|slave|replica)\\b"
                    + "|(stop)\\s+(slave|replica)\\b|(change)\\s+(master|replication)\\b|(shutdown)\\s*;?\\s*$"
                    + "|(truncate)\\s+\\S|(delete)\\s+from\\b|(insert|replace)\\s+into\\b|(update)\\s+\\S+\\s+set\\b"
                    + "|(select)\\s+\\S|(call)\\s+\\S)");

    /** The flags of statements that concern accounts. */
    private static final Pattern OF_ACCOUNTS =
            Pattern.compile("dynamic_(?:grant|revoke|set_password|.*_(?:user|role))");

    /** A text that is decoded to the first word of a statement. */
    private static final Pattern WORD = Pattern.compile(
            "(?i)\\s*(?:create|alter|drop|grant|revoke|set|update|delete|insert|select|truncate|union)\\s*");

    private static final Pattern FILE =
            Pattern.compile("(?is)\\binto\\s+(?:outfile|dumpfile)\\b|\\bload_file\\s*\\(|\\binfile\\b");

    private final ConditionTokens tokens;
    private final LiteralText literals;
    private final SqlMode mode;

    public DynamicStatementFlags(SqlMode mode) {
        tokens = new ConditionTokens(mode);
        literals = new LiteralText(tokens, mode);
        this.mode = mode;
    }

    /** Returns whether a statement with this masked text may contain another one. */
    public boolean arePossible(byte[] masked, int length) {
        return !read(masked, 0, length, true).isEmpty();
    }

    /** Returns the flags of a statement. */
    public List<String> of(byte[] bytes, int from, int to) {
        return List.copyOf(read(bytes, from, to, false));
    }

    /**
     * Returns whether the text begins like a statement that creates, alters or drops accounts, or grants or revokes
     * privileges.
     */
    public static boolean concernsAccounts(String text, SqlMode mode) {
        String start = text.substring(0, Math.min(text.length(), MAX_LENGTH));
        Matcher statement = STATEMENT.matcher(StatementText.withoutComments(start, mode));
        return statement.lookingAt() && OF_ACCOUNTS.matcher(name(statement)).matches();
    }

    /** Returns the flags. If {@code masked}, one flag represents any such literal, because its content is unknown. */
    private Set<String> read(byte[] bytes, int from, int to, boolean masked) {
        Set<String> flags = new LinkedHashSet<>();
        Set<String> selected = new LinkedHashSet<>();
        boolean variable = false;
        boolean prepare = false;
        boolean awaited = false;
        boolean listed = false;
        boolean into = false;
        int texts = 0;
        tokens.start(bytes, from, to);
        while (tokens.kind() != Kind.END && texts < MAX_TEXTS) {
            boolean name = tokens.kind() == Kind.NAME;
            if ((awaited || listed) && (tokens.isLiteral() || name && literals.isFunction())) {
                texts += masked || tokens.kind() == Kind.NUMBER ? 0 : 1;
                (awaited ? flags : selected).addAll(masked ? skipped() : value());
                awaited = false;
                listed = false;
                continue;
            }
            boolean ofUser = name && ByteText.firstOf(bytes, tokens.from(), tokens.end(), AT, AT) < tokens.end();
            if (into && ofUser) {
                flags.addAll(selected);
            }
            into = tokens.is(INTO) || into && (ofUser || tokens.isComma());
            boolean within = literals.isCharacterSet() || tokens.kind() == Kind.OPEN;
            listed = tokens.is(SELECT) || tokens.isComma() || listed && within;
            awaited = tokens.is(IMMEDIATE)
                    || prepare && tokens.is(FROM)
                    || variable && isAssignment()
                    || awaited && within;
            prepare = name && tokens.is(PREPARE) || prepare && name && !tokens.is(FROM);
            variable = ofUser || variable && isColon();
            tokens.next();
        }
        return flags;
    }

    private Set<String> skipped() {
        tokens.next();
        return Set.of(EventFlag.DYNAMIC_FILE.wireName());
    }

    /** Reads the text at the current token and returns its flags. */
    private List<String> value() {
        return switch (tokens.kind()) {
            case TEXT, CODED -> {
                String text = literals.literals();
                yield flags(text, literals.isCoded());
            }
            case NAME -> assembled();
            default -> {
                tokens.next();
                yield List.of();
            }
        };
    }

    private boolean isAssignment() {
        return tokens.kind() == Kind.COMPARISON && tokens.bytes()[tokens.from()] == '=';
    }

    private boolean isColon() {
        return tokens.kind() == Kind.OTHER && tokens.bytes()[tokens.from()] == ':';
    }

    /** Reads a function of literals and returns the flags of its value. */
    private List<String> assembled() {
        String text = literals.read();
        List<String> found =
                new ArrayList<>(flags(text.substring(0, Math.min(text.length(), MAX_LENGTH)), literals.isCoded()));
        boolean part = literals.isDecoded() && WORD.matcher(text).matches();
        if (literals.isComplete() && (part || !found.isEmpty())) {
            EventFlag.DYNAMIC_ASSEMBLED.addTo(found);
        }
        return found;
    }

    private List<String> flags(String text, boolean coded) {
        String code = StatementText.withoutComments(text, mode);
        Matcher statement = STATEMENT.matcher(code);
        if (!statement.lookingAt()) {
            return List.of();
        }
        List<String> flags = new ArrayList<>();
        flags.add(name(statement));
        if (coded) {
            EventFlag.DYNAMIC_HEX.addTo(flags);
        }
        if (FILE.matcher(code).find()) {
            EventFlag.DYNAMIC_FILE.addTo(flags);
        }
        return flags;
    }

    /** Returns the name of a flag from the matched words, which are a fixed set. */
    private static String name(Matcher statement) {
        List<String> kind = new ArrayList<>(2);
        for (int i = 1; i <= statement.groupCount(); i++) {
            if (statement.group(i) != null) {
                kind.add(statement.group(i).toLowerCase(Locale.ROOT));
            }
        }
        return EventFlagFamily.dynamic(kind);
    }
}

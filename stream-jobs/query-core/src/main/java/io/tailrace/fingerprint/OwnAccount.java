package io.tailrace.fingerprint;

import io.tailrace.lexer.ByteText;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Recognizes an UPDATE whose WHERE compares with the name of the session's own user: {@code UPDATE staff SET salary = 9000 WHERE
 * login = 'eva.moll'} by {@code eva.moll}, or with {@code USER()}.
 */
public final class OwnAccount {

    private static final String UPDATE = "UPDATE";
    /** Only this part of a statement is read, bytes. */
    private static final int MAX_LENGTH = 4_096;
    /** A shorter name is part of too many texts, letters. */
    private static final int MIN_NAME = 5;

    private static final Pattern WHERE = Pattern.compile("\\bwhere\\b");
    private static final Pattern TEXT = Pattern.compile("'([^']{0,128})'|\"([^\"]{0,128})\"");
    private static final Pattern FUNCTION =
            Pattern.compile("\\b(user|current_user|session_user|system_user) ?\\( ?\\)|\\bcurrent_user\\b");
    private static final Pattern NOT_LETTERS = Pattern.compile("[^\\p{L}]+");

    /** Words of the names of accounts that are no person. */
    private static final Set<String> COMMON = Set.of(
            "account",
            "admin",
            "administrator",
            "agent",
            "apache",
            "backup",
            "batch",
            "client",
            "clerk",
            "default",
            "deploy",
            "guest",
            "mysql",
            "mariadb",
            "office",
            "order",
            "orders",
            "owner",
            "public",
            "reader",
            "report",
            "reports",
            "sales",
            "server",
            "service",
            "shared",
            "staff",
            "store",
            "support",
            "system",
            "tester",
            "users",
            "website",
            "worker",
            "writer");

    private OwnAccount() {}

    /**
     * Returns whether a statement changes a row that it selects by the name of its own user.
     *
     * @param user user of the session; empty if unknown
     */
    public static boolean isChanged(String verb, String user, byte[] bytes, int from, int to) {
        if (!UPDATE.equals(verb) || user.isEmpty()) {
            return false;
        }
        String statement =
                ByteText.utf8(bytes, from, Math.min(to, from + MAX_LENGTH)).toLowerCase(Locale.ROOT);
        Matcher where = WHERE.matcher(statement);
        if (!where.find()) {
            return false;
        }
        String condition = statement.substring(where.end());
        if (FUNCTION.matcher(TEXT.matcher(condition).replaceAll("")).find()) {
            return true;
        }
        String name = user.toLowerCase(Locale.ROOT);
        String whole = isPersonal(name) ? name : "";
        String word = longestWord(name);
        Matcher text = TEXT.matcher(condition);
        while (text.find()) {
            String value = text.group(1) == null ? text.group(2) : text.group(1);
            boolean isWhole = !whole.isEmpty() && (value.equals(whole) || value.startsWith(whole + '@'));
            if (isWhole || !word.isEmpty() && contains(value, word)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isPersonal(String word) {
        return word.length() >= MIN_NAME && !COMMON.contains(word);
    }

    private static boolean contains(String value, String word) {
        for (String part : NOT_LETTERS.split(value)) {
            if (part.equals(word)) {
                return true;
            }
        }
        return false;
    }

    /** Returns the longest word of a name that may be that of a person; empty if there is none. */
    private static String longestWord(String name) {
        String longest = "";
        for (String part : NOT_LETTERS.split(name)) {
            longest = part.length() >= MIN_NAME && part.length() > longest.length() && !COMMON.contains(part)
                    ? part
                    : longest;
        }
        return longest;
    }
}

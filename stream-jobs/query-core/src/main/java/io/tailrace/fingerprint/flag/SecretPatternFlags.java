package io.tailrace.fingerprint.flag;

import io.tailrace.fingerprint.token.ConditionTokens;
import io.tailrace.fingerprint.token.ConditionTokens.Kind;
import io.tailrace.flag.EventFlag;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.SqlMode;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Detects a secret that is compared with wildcards: {@code token LIKE '%'} matches the token of any user. A search over
 * several columns joins its comparisons by OR and has no flag. Not thread-safe.
 */
public final class SecretPatternFlags implements LiteralFlag {

    private static final byte[] LIKE = ByteText.ascii("like");
    private static final byte[] BINARY = ByteText.ascii("binary");
    /** The last word of a name; {@code option_name} and {@code token_count} are no secrets. */
    private static final Pattern SECRET = Pattern.compile(
            "(?:.*[._`])?(?:passw(?:or)?d|passwort|kennwort|contrasena|clave|mot_?de_?passe|mdp|senha|haslo|wachtwoord|pwd|token|otp|pin|secret"
                    + "|api_?key|(?:reset|recovery)_?code)(?:_?(?:hash|value|hex|code|key|digest))?`?");

    private static final int MAX_NAME = 256;
    /** Number of other characters up to which a pattern matches most values. */
    private static final int FEW = 2;

    private final ConditionTokens tokens;
    private boolean masked;

    public SecretPatternFlags(SqlMode mode) {
        tokens = new ConditionTokens(mode);
    }

    @Override
    public EventFlag flag() {
        return EventFlag.SECRET_WILDCARD;
    }

    @Override
    public boolean isIn(byte[] bytes, int from, int to, boolean masked) {
        this.masked = masked;
        tokens.start(bytes, from, to);
        boolean alternative = false;
        while (tokens.kind() != Kind.END) {
            Kind kind = tokens.kind();
            int nameFrom = tokens.from();
            int nameEnd = tokens.end();
            tokens.next();
            if (kind == Kind.NAME && tokens.is(LIKE) && isSecret(bytes, nameFrom, nameEnd)) {
                if (isOpenPattern() && !alternative && tokens.kind() != Kind.OR) {
                    return true;
                }
            }
            alternative = kind == Kind.OR || alternative && kind == Kind.OPEN;
        }
        return false;
    }

    private static boolean isSecret(byte[] bytes, int from, int end) {
        String name = ByteText.utf8(bytes, Math.max(from, end - MAX_NAME), end).toLowerCase(Locale.ROOT);
        return SECRET.matcher(name).matches();
    }

    /** Reads the value after LIKE, and the parentheses after it; returns whether it matches most values. */
    private boolean isOpenPattern() {
        tokens.next();
        if (tokens.is(BINARY)) {
            tokens.next();
        }
        boolean open = masked ? tokens.isLiteral() : tokens.kind() == Kind.CODED || hasFewOthers();
        tokens.next();
        while (tokens.kind() == Kind.CLOSE) {
            tokens.next();
        }
        return open;
    }

    /** Returns whether the current text has a wildcard and at most two other characters. */
    private boolean hasFewOthers() {
        if (tokens.kind() != Kind.TEXT) {
            return false;
        }
        int wildcards = 0;
        int others = 0;
        for (int i = tokens.from() + 1; i < tokens.end() - 1 && others <= FEW; i++) {
            byte b = tokens.bytes()[i];
            boolean escape = b == '\\';
            i += escape ? 1 : 0;
            boolean wildcard = b == '%' || b == '_';
            wildcards += wildcard ? 1 : 0;
            others += wildcard ? 0 : 1;
        }
        return wildcards > 0 && others <= FEW;
    }
}

package io.tailrace.fingerprint.account;

import io.tailrace.fingerprint.account.AccountGrammar.Privileges;
import io.tailrace.fingerprint.token.ConditionTokens;
import io.tailrace.fingerprint.token.ConditionTokens.Kind;
import io.tailrace.lexer.ByteText;

/** Determines what follows GRANT or REVOKE: privileges and roles cannot be distinguished before ON, TO or FROM. */
public final class PrivilegeListLookahead {

    private static final byte[] ON = ByteText.ascii("on");
    private static final byte[] TO = ByteText.ascii("to");
    private static final byte[] FROM = ByteText.ascii("from");
    private static final byte[] ALL = ByteText.ascii("all");
    private static final byte[] ADMIN = ByteText.ascii("admin");
    private static final byte[] OPTION = ByteText.ascii("option");
    private static final byte[] IF = ByteText.ascii("if");

    private PrivilegeListLookahead() {}

    /** Reads to the end of the statement, or until the result is certain. */
    public static Privileges of(ConditionTokens tokens) {
        if (tokens.is(IF)) {
            tokens.next();
            tokens.next();
        }
        boolean all = tokens.is(ALL);
        boolean admin = tokens.is(ADMIN);
        tokens.next();
        boolean option = admin && tokens.is(OPTION);
        boolean names = false;
        int depth = 0;
        while (tokens.kind() != Kind.END && !isSemicolon(tokens)) {
            if (depth == 0 && tokens.is(ON)) {
                return Privileges.ON_OBJECT;
            }
            names |= tokens.is(TO) || tokens.is(FROM);
            depth += tokens.kind() == Kind.OPEN ? 1 : tokens.kind() == Kind.CLOSE ? -1 : 0;
            tokens.next();
        }
        return option
                ? Privileges.OPTION_OF_ROLE
                : all ? Privileges.OF_ALL : names ? Privileges.ROLES : Privileges.UNKNOWN;
    }

    private static boolean isSemicolon(ConditionTokens tokens) {
        return tokens.end() == tokens.from() + 1 && tokens.bytes()[tokens.from()] == ';';
    }
}

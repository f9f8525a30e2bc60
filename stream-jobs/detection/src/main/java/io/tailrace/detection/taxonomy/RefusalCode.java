package io.tailrace.detection.taxonomy;

import java.util.Set;

/**
 * Error codes of MySQL and MariaDB that refuse an account: {@code schemas/contracts/refusal_code.json} lists them by
 * kind. A refused login of the rules has one of {@link #LOGINS}; one with 1044 had the right password.
 */
public final class RefusalCode {

    /** Wrong password, or an account that may not log in: locked, blocked, expired, or with another plugin. */
    private static final Set<String> LOGINS = Set.of("1045", "1698", "1862", "3118", "3955", "4151");

    /** Statements without the privilege on a database, table, column, routine, or for administration. */
    private static final Set<String> PRIVILEGES = Set.of("1044", "1142", "1143", "1227", "1370");

    /** Refusals that only a reading account such as that of capture meets: of views, and expired passwords. */
    private static final Set<String> OTHERS = Set.of("1345", "1356", "1820");

    private RefusalCode() {}

    /** @param code error code in decimal digits; a code of an error log such as {@code MY-010926} is none */
    public static boolean isOfLogin(String code) {
        return LOGINS.contains(code);
    }

    /** Returns whether a statement lacked a privilege. */
    public static boolean isOfPrivilege(String code) {
        return PRIVILEGES.contains(code);
    }

    /** Returns whether the code refuses an account in any way. */
    public static boolean isRefusal(String code) {
        return isOfLogin(code) || isOfPrivilege(code) || OTHERS.contains(code);
    }
}

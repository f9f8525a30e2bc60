package io.tailrace.plan;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * Tells plans apart by their shape: operations, access types, tables by the names that the statement gives them,
 * indexes, join order. Costs, rows, conditions and literals do not count. docs/PLANS.md lists what formats do not tell.
 */
public final class PlanHash {

    /** Name and version of the rules: hashes of different rules must not be compared. */
    public static final String RULE_SET = "plan-1";

    private static final HexFormat DIGITS = HexFormat.of().withUpperCase();
    /** Digits are two of each byte. */
    private static final int BYTES = 8;

    private PlanHash() {}

    /** The hash as 16 upper-case hexadecimal digits, as a query_id is written. */
    public static String of(Plan plan) {
        byte[] digest = md5().digest(shape(plan).getBytes(StandardCharsets.UTF_8));
        return DIGITS.formatHex(digest, 0, BYTES);
    }

    /** What is hashed, as people can read it. */
    public static String shape(Plan plan) {
        return PlanShape.of(plan).text();
    }

    private static MessageDigest md5() {
        try {
            return MessageDigest.getInstance("MD5");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has MD5", e);
        }
    }
}

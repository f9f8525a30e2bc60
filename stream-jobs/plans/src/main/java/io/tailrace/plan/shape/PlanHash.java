package io.tailrace.plan.shape;

import io.tailrace.plan.Plan;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * Computes the plan hash, which identifies the shape of a plan: operations, access types, tables by their names in
 * the statement, indexes, join order. Costs, rows, conditions and literals are not included. docs/PLANS.md lists the
 * information that some formats lack.
 */
public final class PlanHash {

    /** Name and version of the rules. Hashes of different rules are not comparable. */
    public static final String RULE_SET = "plan-1";

    private static final HexFormat DIGITS = HexFormat.of().withUpperCase();
    /** Length of the hash; each byte is written as two digits. */
    private static final int BYTES = 8;

    private PlanHash() {}

    /** Returns the hash as 16 upper-case hexadecimal digits, like a query_id. */
    public static String of(Plan plan) {
        byte[] digest = md5().digest(shape(plan).getBytes(StandardCharsets.UTF_8));
        return DIGITS.formatHex(digest, 0, BYTES);
    }

    /** Returns the hashed text, which is human-readable. */
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

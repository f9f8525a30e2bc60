package io.tailrace.cli.digest.aggregate;

import io.tailrace.detection.taxonomy.RefusalCode;

/** Describes common server errors of statements. */
public final class ServerErrorCodes {

    private ServerErrorCodes() {}

    /** Returns a text such as {@code 1062 duplicate key}; the code alone if it is not a common one. */
    public static String describe(String code) {
        String meaning = RefusalCode.isRefusal(code) ? "access denied" : meaning(code);
        return meaning.isEmpty() ? code : code + ' ' + meaning;
    }

    private static String meaning(String code) {
        return switch (code) {
            case "1046" -> "no database selected";
            case "1048" -> "column is not null";
            case "1007" -> "database exists";
            case "1008", "1049" -> "unknown database";
            case "1050" -> "table exists";
            case "1051", "1146" -> "no such table";
            case "1054" -> "unknown column";
            case "1062", "1586" -> "duplicate key";
            case "1064" -> "syntax error";
            case "1114" -> "table is full";
            case "1105" -> "unknown error";
            case "1153" -> "packet too large";
            case "1158", "1159", "1160", "1161" -> "connection lost";
            case "1205" -> "lock wait timeout";
            case "1213" -> "deadlock";
            case "1265" -> "data truncated";
            case "1287", "1681" -> "deprecated";
            case "1290" -> "server is read-only";
            case "1292", "1366" -> "wrong value";
            case "1317" -> "killed";
            case "1406" -> "data too long";
            case "1451", "1452" -> "foreign key";
            case "1969", "3024" -> "time limit exceeded";
            default -> "";
        };
    }
}

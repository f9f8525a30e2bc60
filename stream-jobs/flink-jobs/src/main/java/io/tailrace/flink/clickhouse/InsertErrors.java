package io.tailrace.flink.clickhouse;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The meaning of ClickHouse's error codes (numbers of its ErrorCodes.cpp) for a block that is not stored. */
final class InsertErrors {

    /**
     * Errors in the data that the parser of a block finds, which recur on every retry. The same codes mean that a
     * connection ended early: between servers (32), or between the job and the server (33). Only the parser adds
     * {@link #BY_PARSER}.
     */
    private static final Set<Integer> OF_PARSER = Set.of(
            6, // CANNOT_PARSE_TEXT
            25, // CANNOT_PARSE_ESCAPE_SEQUENCE
            26, // CANNOT_PARSE_QUOTED_STRING
            27, // CANNOT_PARSE_INPUT_ASSERTION_FAILED
            32, // ATTEMPT_TO_READ_AFTER_EOF
            33, // CANNOT_READ_ALL_DATA
            38, // CANNOT_PARSE_DATE
            41, // CANNOT_PARSE_DATETIME
            72, // CANNOT_PARSE_NUMBER
            117, // INCORRECT_DATA
            128, // TOO_LARGE_ARRAY_SIZE
            131); // TOO_LARGE_STRING_SIZE

    private static final String BY_PARSER = "While executing BinaryRowInputFormat";

    /**
     * Errors in the data of parsed rows, which also recur. Every other error is one of the server, its configuration or
     * its load, and the block waits. A block whose materialized view fails also waits: its rows are in the table
     * already, and the same token completes it after the view is repaired.
     */
    private static final Set<Integer> OF_ROWS = Set.of(
            349, // CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN
            469); // VIOLATED_CONSTRAINT

    /**
     * Parts of responses that mean that part of the block may be stored: another shard refused its part, the server
     * queried itself as a shard, or lost a connection to one, or a view failed. Refused rows are inserted again with
     * other tokens, so such a block must wait.
     */
    private static final List<String> HALFWAY =
            List.of("DB::Exception: Received from ", " tailrace_shard.", "Insertion status:", "while pushing to view");

    /**
     * Errors of replicas and their coordinator. The block waits: its token completes what an attempt began, once, on
     * any replica. The texts contain nothing of the response, so that repetitions are logged once a minute.
     */
    private static final Map<Integer, String> OF_REPLICAS = Map.of(
            225, "NO_ZOOKEEPER: the server has no Keeper",
            242, "TABLE_IS_READ_ONLY: the server has no session with Keeper, or its data differ from Keeper's",
            285, "TOO_FEW_LIVE_REPLICAS: fewer replicas of the shard are alive than must confirm an insert",
            286, "UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE: an earlier insert is not yet on enough replicas",
            319, "UNKNOWN_STATUS_OF_INSERT: too few replicas confirmed the insert in time",
            999, "KEEPER_EXCEPTION: Keeper does not answer");

    private static final Pattern NAME = Pattern.compile("\\(([A-Z][A-Z0-9_]+)\\)");

    private InsertErrors() {}

    /** Returns whether every retry would fail, and no part of the block is stored. */
    static boolean isInData(int code, String response) {
        boolean isKnown = OF_ROWS.contains(code) || (OF_PARSER.contains(code) && response.contains(BY_PARSER));
        return isKnown && HALFWAY.stream().noneMatch(response::contains);
    }

    /** Returns code, name and meaning of an error of replicas or Keeper; empty for other errors. */
    static Optional<String> ofReplicas(int code) {
        return Optional.ofNullable(OF_REPLICAS.get(code)).map(text -> "code " + code + ' ' + text);
    }

    /** Returns the name of the innermost error of a response; empty if it has none. */
    static String name(String response) {
        Matcher matcher = NAME.matcher(response);
        String name = "";
        while (matcher.find()) {
            name = matcher.group(1);
        }
        return name;
    }
}

package io.tailrace.flink.clickhouse;

import io.tailrace.clickhouse.PendingBlock;
import io.tailrace.flink.clickhouse.InsertResult.Refused;
import io.tailrace.flink.clickhouse.InsertResult.Stored;
import io.tailrace.flink.clickhouse.InsertResult.Unavailable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Stores blocks in memory, each token once, like ClickHouse. It can be made unavailable, and refuses blocks with a row
 * of the poisonous id.
 */
final class TokenStore implements InsertTarget {

    static final long POISON = -1;

    private final Map<String, PendingBlock> stored = new LinkedHashMap<>();
    private boolean away;
    private int falseAnswers;
    private int attempts;

    @Override
    public synchronized InsertResult insert(PendingBlock block) {
        attempts++;
        if (away) {
            return new Unavailable("away");
        }
        if (ids(block).contains(POISON)) {
            return new Refused("poison: code 469 VIOLATED_CONSTRAINT");
        }
        if (falseAnswers > 0) {
            falseAnswers--;
            return new Stored();
        }
        stored.putIfAbsent(block.token(), block);
        return new Stored();
    }

    private static List<Long> ids(PendingBlock block) {
        RowBinaryReader rows = new RowBinaryReader(RowLayout.parse(block.layout()), BlockBuilder.rowsOf(block));
        List<Long> ids = new ArrayList<>();
        while (rows.has("id") && rows.next()) {
            ids.add(rows.number("id"));
        }
        return ids;
    }

    /** Returns the ids of all rows of test tables, in no order. */
    synchronized List<Long> storedIds() {
        return stored.values().stream().flatMap(block -> ids(block).stream()).toList();
    }

    /** Returns the blocks that were stored in a table of the job itself. */
    synchronized List<PendingBlock> storedIn(String table) {
        return stored.values().stream()
                .filter(block -> block.layout().startsWith(table + '\n'))
                .toList();
    }

    synchronized void setAway(boolean isAway) {
        away = isAway;
    }

    /** Makes the next attempt succeed without storing anything, as replicas do at the moment they give a block up. */
    synchronized void answerFalsely() {
        falseAnswers = 1;
    }

    synchronized int attempts() {
        return attempts;
    }

    synchronized List<PendingBlock> stored() {
        return List.copyOf(stored.values());
    }

    synchronized int storedRows() {
        return stored.values().stream().mapToInt(PendingBlock::rows).sum();
    }
}

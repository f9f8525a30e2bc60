package io.tailrace.clickhouse;

import io.tailrace.clickhouse.InsertOutcome.Refused;
import io.tailrace.clickhouse.InsertOutcome.Stored;
import io.tailrace.clickhouse.InsertOutcome.Unavailable;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Keeps blocks in memory, each token once, as ClickHouse does; can be away, and refuses tables named poison. */
final class TokenStore implements BlockStore {

    private final Map<String, PendingBlock> stored = new LinkedHashMap<>();
    private boolean away;
    private int attempts;

    @Override
    public synchronized InsertOutcome insert(PendingBlock block) {
        attempts++;
        if (away) {
            return new Unavailable("away");
        }
        if (block.layout().startsWith("poison")) {
            return new Refused("poison: code 469 VIOLATED_CONSTRAINT");
        }
        stored.putIfAbsent(block.token(), block);
        return new Stored();
    }

    synchronized void setAway(boolean isAway) {
        away = isAway;
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

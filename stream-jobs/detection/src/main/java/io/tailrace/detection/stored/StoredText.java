package io.tailrace.detection.stored;

import java.io.IOException;
import java.io.InputStream;
import java.util.function.Consumer;

/**
 * A row of the statements that ClickHouse stores.
 *
 * @param statement without its literals
 */
public record StoredText(long queryId, String ruleSet, String statement) {

    /** Reads rows in RowBinary. */
    public static void read(InputStream rows, Consumer<StoredText> texts) throws IOException {
        RowBinaryInput in = new RowBinaryInput(rows);
        while (!in.isAtEnd()) {
            texts.accept(new StoredText(in.readLong(), in.readText(), in.readText()));
        }
    }
}

package io.tailrace.flink.parsing;

import io.tailrace.event.LedgerEntry;
import io.tailrace.event.PostingKind;
import io.tailrace.event.Stage;
import io.tailrace.reassembly.FramedEntry;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Aggregates the results of entries, so that the ledger receives a posting per file and checkpoint instead of one per
 * entry. Not thread-safe.
 */
final class PostingAggregator {

    private record Account(
            String cluster,
            String instance,
            String source,
            String log,
            String path,
            long generation,
            PostingKind kind,
            String detail) {}

    private static final class Sum {
        long from = Long.MAX_VALUE;
        long to;
        long count;
        long bytes;
    }

    private final Map<Account, Sum> sums = new HashMap<>();
    private FramedEntry lastEntry;
    private PostingKind lastKind;
    private String lastDetail;
    private Sum lastSum;

    /** @param detail dead letter code; empty for an event */
    void add(FramedEntry entry, PostingKind kind, String detail) {
        if (!isSameAccount(entry, kind, detail)) {
            lastSum = sums.computeIfAbsent(account(entry, kind, detail), key -> new Sum());
        }
        lastEntry = entry;
        lastKind = kind;
        lastDetail = detail;
        lastSum.from = Math.min(lastSum.from, entry.offset());
        lastSum.to = Math.max(lastSum.to, entry.offset() + entry.bytes().length);
        lastSum.count++;
        lastSum.bytes += entry.bytes().length;
    }

    /** Consecutive entries usually belong to one file: this avoids most lookups in the map. */
    private boolean isSameAccount(FramedEntry entry, PostingKind kind, String detail) {
        return lastSum != null
                && kind == lastKind
                && detail.equals(lastDetail)
                && entry.generation() == lastEntry.generation()
                && entry.path().equals(lastEntry.path())
                && entry.origin().instance().equals(lastEntry.origin().instance())
                && entry.origin().source().equals(lastEntry.origin().source())
                && entry.origin().cluster().equals(lastEntry.origin().cluster())
                && entry.origin().log().equals(lastEntry.origin().log());
    }

    private static Account account(FramedEntry entry, PostingKind kind, String detail) {
        return new Account(
                entry.origin().cluster(),
                entry.origin().instance(),
                entry.origin().source(),
                entry.origin().log(),
                entry.path(),
                entry.generation(),
                kind,
                detail);
    }

    /** Emits the postings since the last call. */
    void flush(Instant now, Consumer<LedgerEntry> out) {
        sums.forEach((account, sum) -> out.accept(posting(account, sum, now)));
        sums.clear();
        lastSum = null;
        lastEntry = null;
    }

    private static LedgerEntry posting(Account account, Sum sum, Instant now) {
        LedgerEntry posting = new LedgerEntry();
        posting.setCluster(account.cluster());
        posting.setInstance(account.instance());
        posting.setSource(account.source());
        posting.setLog(account.log());
        posting.setPath(account.path());
        posting.setGeneration(account.generation());
        posting.setStage(Stage.PARSER);
        posting.setKind(account.kind());
        posting.setDetail(account.detail());
        posting.setFromOffset(sum.from);
        posting.setToOffset(sum.to);
        posting.setCount(sum.count);
        posting.setBytes(sum.bytes);
        posting.setAt(now);
        return posting;
    }
}

package io.tailrace.reassembly;

import io.tailrace.event.DeadLetter;
import io.tailrace.event.LedgerEntry;
import io.tailrace.event.PostingKind;
import io.tailrace.event.SignedRange;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Sums up all results of reassembly. */
final class CollectedOutput implements ReassemblyOutput {

    /** A posting of bytes {@code [from, to)}, with reversals subtracted. */
    record Piece(PostingKind kind, String detail, long from, long to) {}

    final List<FramedEntry> entries = new ArrayList<>();
    final List<LedgerEntry> postings = new ArrayList<>();
    final List<DeadLetter> deadLetters = new ArrayList<>();
    final List<SignedRange> signedRanges = new ArrayList<>();

    @Override
    public void entry(FramedEntry entry) {
        entries.add(entry);
    }

    @Override
    public void posting(LedgerEntry posting) {
        postings.add(posting);
    }

    @Override
    public void deadLetter(DeadLetter deadLetter) {
        deadLetters.add(deadLetter);
    }

    @Override
    public void signedRange(SignedRange range) {
        signedRanges.add(range);
    }

    /** Returns the newest frontier row of each generation. */
    Map<Long, LedgerEntry> frontiers() {
        Map<Long, LedgerEntry> newest = new TreeMap<>();
        for (LedgerEntry posting : postings) {
            if (posting.getKind() == PostingKind.FRONTIER) {
                newest.put(posting.getGeneration(), posting);
            }
        }
        return newest;
    }

    long bytes(long generation, PostingKind kind) {
        return postings.stream()
                .filter(p -> p.getGeneration() == generation && p.getKind() == kind)
                .mapToLong(LedgerEntry::getBytes)
                .sum();
    }

    long count(long generation, PostingKind kind) {
        return postings.stream()
                .filter(p -> p.getGeneration() == generation && p.getKind() == kind)
                .mapToLong(LedgerEntry::getCount)
                .sum();
    }

    /** Returns the ranges that remain after reversals, in file order. Fails if a reversal has no posting. */
    List<Piece> remaining(long generation) {
        Map<Piece, Integer> net = new HashMap<>();
        for (LedgerEntry posting : postings) {
            if (posting.getGeneration() == generation && isTile(posting.getKind())) {
                Piece piece = new Piece(
                        posting.getKind(), posting.getDetail(), posting.getFromOffset(), posting.getToOffset());
                net.merge(piece, posting.getBytes() < 0 ? -1 : 1, Integer::sum);
            }
        }
        return subtract(net);
    }

    /** Subtracts reversals, which may apply to a part of a joined row. */
    private static List<Piece> subtract(Map<Piece, Integer> net) {
        Map<Piece, TreeMap<Long, Integer>> byKind = new HashMap<>();
        net.forEach((piece, times) -> {
            Piece kind = new Piece(piece.kind(), piece.detail(), 0, 0);
            TreeMap<Long, Integer> steps = byKind.computeIfAbsent(kind, k -> new TreeMap<>());
            steps.merge(piece.from(), times, Integer::sum);
            steps.merge(piece.to(), -times, Integer::sum);
        });
        List<Piece> remaining = new ArrayList<>();
        byKind.forEach((kind, steps) -> {
            int level = 0;
            long from = 0;
            for (Map.Entry<Long, Integer> step : steps.entrySet()) {
                if (level != 0 && step.getValue() != 0) {
                    if (level != 1) {
                        throw new AssertionError(kind + " stands " + level + " times from " + from);
                    }
                    remaining.add(new Piece(kind.kind(), kind.detail(), from, step.getKey()));
                }
                if (step.getValue() != 0) {
                    level += step.getValue();
                    from = step.getKey();
                }
            }
        });
        remaining.sort((a, b) -> Long.compare(a.from(), b.from()));
        return remaining;
    }

    private static boolean isTile(PostingKind kind) {
        return switch (kind) {
            case ENTRY, FRAMING, GAP, DEAD_LETTER -> true;
            default -> false;
        };
    }

    /** Checks the first equation of the ledger: every byte up to the accounted offset is posted exactly once. */
    void assertTiled(long generation, long accounted) {
        long next = 0;
        for (Piece piece : remaining(generation)) {
            if (piece.from() != next) {
                throw new AssertionError(
                        "generation " + generation + ": expected a posting from " + next + ", found " + piece);
            }
            next = piece.to();
        }
        if (next != accounted) {
            throw new AssertionError(
                    "generation " + generation + ": posted up to " + next + ", accounted " + accounted);
        }
    }
}

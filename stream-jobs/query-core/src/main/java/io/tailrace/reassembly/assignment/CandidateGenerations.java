package io.tailrace.reassembly.assignment;

import io.tailrace.reassembly.LineBlock;
import io.tailrace.reassembly.census.FileCensus;
import io.tailrace.reassembly.census.FileView;
import io.tailrace.reassembly.content.ContentComparison;
import io.tailrace.reassembly.generation.LogFileGeneration;
import io.tailrace.reassembly.generation.UnassignedLines;
import java.util.TreeMap;

/** Finds the generation to which lines most probably belong. Changes nothing. */
final class CandidateGenerations {

    private final TreeMap<Long, LogFileGeneration> generations;
    private final FileCensus census;

    CandidateGenerations(TreeMap<Long, LogFileGeneration> generations, FileCensus census) {
        this.generations = generations;
        this.census = census;
    }

    /** Returns the best match among the generations that end where the block starts; null if there is none. */
    LogFileGeneration continuedBy(LineBlock block, long offset) {
        LogFileGeneration best = null;
        for (LogFileGeneration generation : generations.values()) {
            boolean fits = generation.continuesAt(offset)
                    && generation.expectsMore()
                    && !census.wasCutBefore(generation, block)
                    && !census.isTooShort(generation, block);
            if (fits && (best == null || rank(generation, block) >= rank(best, block))) {
                best = generation;
            }
        }
        return best;
    }

    /**
     * Ranks a file: one under the same path is a better match than others, and one that is still read is a better
     * match than one that has ended.
     */
    private int rank(LogFileGeneration generation, LineBlock block) {
        return (census.isUnder(generation, block.origin().path()) ? 2 : 0) + (generation.ended() ? 0 : 1);
    }

    /** Returns null if the run is not below the generation's frontier, or differs from what was read. */
    static ContentComparison compare(LogFileGeneration generation, UnassignedLines run) {
        if (run.from() >= generation.frontier()) {
            return null;
        }
        ContentComparison comparison = generation.compare(run);
        return comparison.differs() ? null : comparison;
    }

    /** Returns the generation that most probably continues with the run after a hole. */
    LogFileGeneration bestBeforeHole(UnassignedLines run, FileView view) {
        LogFileGeneration best = null;
        for (LogFileGeneration generation : generations.values()) {
            boolean fits = generation.frontier() <= run.from() && !census.isTooShort(generation, run.first());
            if (fits && (best == null || compareBeforeHole(generation, best, run, view) >= 0)) {
                best = generation;
            }
        }
        return best;
    }

    private int compareBeforeHole(LogFileGeneration one, LogFileGeneration other, UnassignedLines run, FileView view) {
        boolean oneIsSeen = view != null && view.generation() == one.number();
        boolean otherIsSeen = view != null && view.generation() == other.number();
        if (oneIsSeen != otherIsSeen) {
            return oneIsSeen ? 1 : -1;
        }
        int byRank = Integer.compare(rank(one, run.first()), rank(other, run.first()));
        return byRank != 0 ? byRank : Long.compare(one.frontier(), other.frontier());
    }

    /** Returns the generation to which the lines most probably belonged; null if they differ from all. */
    LogFileGeneration bestCandidate(UnassignedLines run) {
        LogFileGeneration best = generations.get(run.sameAs());
        if (best != null && compare(best, run) != null) {
            return best;
        }
        long agreedTo = -1;
        for (LogFileGeneration generation : generations.descendingMap().values()) {
            ContentComparison comparison = compare(generation, run);
            if (comparison != null && comparison.agreedTo() > agreedTo && !census.contradicts(generation, run)) {
                best = generation;
                agreedTo = comparison.agreedTo();
            }
        }
        return agreedTo < 0 ? null : best;
    }

    static boolean hasSameHead(LogFileGeneration generation, UnassignedLines run) {
        return generation != null && compare(generation, run) != null;
    }

    /** Returns whether the run repeats a known file from its start, and the census has reported no other file. */
    boolean cameAgain(UnassignedLines run) {
        LogFileGeneration same = bestCandidate(run);
        return same != null && run.to() <= same.frontier() && census.checkedAfter(run);
    }
}

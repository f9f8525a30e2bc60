package io.tailrace.plan.advice;

import io.tailrace.plan.AccessType;
import io.tailrace.plan.PlanFlag;
import io.tailrace.plan.PlanNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The warnings of a node. */
public final class Warnings {

    /** From so many rows on a full scan is worth a word. */
    public static final double MANY_ROWS = 1000;

    /** An estimate that is wrong by more than this factor misleads the optimizer. */
    public static final double MUCH_OFF = 10;

    private Warnings() {}

    /** The warnings of a node itself, not of its inputs. */
    public static List<Warning> of(PlanNode node) {
        List<Warning> warnings = new ArrayList<>();
        if (isLargeScan(node)) {
            String what = node.access().type() == AccessType.INDEX ? "full index scan" : "full scan";
            warnings.add(new Warning(Warning.Kind.FULL_SCAN, what + " of " + whole(scannedRows(node)) + " rows"));
        }
        if (node.has(PlanFlag.DEPENDENT)
                && (node.selectId() > 0 || !node.location().isEmpty())) {
            warnings.add(new Warning(Warning.Kind.DEPENDENT_SUBQUERY, "dependent: runs for each outer row"));
        }
        double factor = estimateFactor(node);
        if (factor > MUCH_OFF) {
            warnings.add(new Warning(Warning.Kind.ESTIMATE_OFF, "estimate off " + whole(factor) + "x"));
        }
        flag(node, PlanFlag.SORT_ON_DISK, Warning.Kind.SORT_ON_DISK, warnings);
        if (node.has(PlanFlag.JOIN_BUFFER)) {
            String words = node.join() == null ? "" : node.join().algorithm();
            warnings.add(new Warning(Warning.Kind.JOIN_BUFFER, "join buffer" + (words.isEmpty() ? "" : ": " + words)));
        }
        flag(node, PlanFlag.TEMPORARY_TABLE, Warning.Kind.TEMPORARY_TABLE, warnings);
        flag(node, PlanFlag.FILESORT, Warning.Kind.FILESORT, warnings);
        return warnings;
    }

    private static void flag(PlanNode node, PlanFlag flag, Warning.Kind kind, List<Warning> warnings) {
        if (node.has(flag)) {
            warnings.add(new Warning(kind, flag.label()));
        }
    }

    /** All rows of a table or index are read, and they are many; what stands for a table is none. */
    public static boolean isLargeScan(PlanNode node) {
        return node.isTable()
                && node.access().type().isFullScan()
                && !node.access().isInternal()
                && scannedRows(node) >= MANY_ROWS;
    }

    /** Rows that one scan reads; measured ones where they are. */
    public static double scannedRows(PlanNode node) {
        double measured = node.measurements().rows();
        double expected = Double.isNaN(node.estimates().examinedRows())
                ? node.estimates().producedRows()
                : node.estimates().examinedRows();
        return Double.isNaN(measured) || measured < expected ? expected : measured;
    }

    /** How far the expected rows are from those measured, at least 1; NaN where one of them is not known. */
    public static double estimateFactor(PlanNode node) {
        double expected = Double.isNaN(node.estimates().examinedRows())
                ? node.estimates().producedRows()
                : node.estimates().examinedRows();
        double measured = node.measurements().rows();
        if (Double.isNaN(expected)
                || Double.isNaN(measured)
                || node.measurements().loops() == 0) {
            return Double.NaN;
        }
        double more = Math.max(1, Math.max(expected, measured));
        double less = Math.max(1, Math.min(expected, measured));
        return more / less;
    }

    static String whole(double number) {
        return String.format(Locale.ROOT, "%,.0f", number);
    }
}

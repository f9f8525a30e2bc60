package io.tailrace.plan.advice;

import io.tailrace.plan.AccessType;
import io.tailrace.plan.PlanFlag;
import io.tailrace.plan.PlanNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Determines the warnings of a node. */
public final class Warnings {

    /** Number of rows from which a full scan is reported. */
    public static final double MANY_ROWS = 1000;

    /** An estimate that is wrong by more than this factor misleads the optimizer. */
    public static final double MUCH_OFF = 10;

    private Warnings() {}

    /** Returns the warnings of a node itself, without its inputs. */
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

    /** Returns whether all rows of a table or index are read and are many. Internal tables do not count. */
    public static boolean isLargeScan(PlanNode node) {
        return node.isTable()
                && node.access().type().isFullScan()
                && !node.access().isInternal()
                && scannedRows(node) >= MANY_ROWS;
    }

    /** Returns the number of rows that one scan reads, measured if available. */
    public static double scannedRows(PlanNode node) {
        double measured = node.measurements().rows();
        double expected = Double.isNaN(node.estimates().examinedRows())
                ? node.estimates().producedRows()
                : node.estimates().examinedRows();
        return Double.isNaN(measured) || measured < expected ? expected : measured;
    }

    /** Returns the factor between expected and measured rows, at least 1; NaN if one of them is unknown. */
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

package io.tailrace.plan.shape;

import java.util.List;
import java.util.stream.Collectors;

/**
 * The shape of one query of a plan, without its numbers.
 *
 * @param steps what is joined, in join order
 * @param sorts whether it sorts rows
 * @param temporary whether it needs a temporary table
 * @param subqueries subqueries of its expressions, by their text
 */
record QueryShape(List<ShapeStep> steps, boolean sorts, boolean temporary, List<QueryShape> subqueries) {

    /** Returns a text such as {@code o:range(k_date) i:ref(PRIMARY) +filesort}. */
    String text() {
        StringBuilder text =
                new StringBuilder(steps.stream().map(ShapeStep::text).collect(Collectors.joining(" ")));
        append(text, sorts, "+filesort");
        append(text, temporary, "+temporary");
        subqueries.forEach(subquery -> append(text, true, "(" + subquery.text() + ")"));
        return text.toString();
    }

    private static void append(StringBuilder text, boolean holds, String word) {
        if (holds) {
            text.append(text.length() == 0 ? "" : " ").append(word);
        }
    }

    boolean isEmpty() {
        return steps.isEmpty() && subqueries.isEmpty() && !sorts && !temporary;
    }
}

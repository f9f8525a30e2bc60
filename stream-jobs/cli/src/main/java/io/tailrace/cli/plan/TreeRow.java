package io.tailrace.cli.plan;

import io.tailrace.plan.PlanNode;

/**
 * A line of the tree.
 *
 * @param text text with colours
 * @param node node whose numbers are appended, or null
 */
record TreeRow(String text, PlanNode node) {

    /** Returns the number of visible characters. */
    int length() {
        return visibleLength(text);
    }

    static int visibleLength(String text) {
        int length = 0;
        boolean colour = false;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\u001b') {
                colour = true;
            } else if (colour) {
                colour = c != 'm';
            } else if (!Character.isLowSurrogate(c)) {
                length++;
            }
        }
        return length;
    }
}

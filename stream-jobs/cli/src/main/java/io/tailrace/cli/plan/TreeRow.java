package io.tailrace.cli.plan;

import io.tailrace.plan.PlanNode;

/**
 * A line of the tree.
 *
 * @param text what it says, with colours
 * @param node whose figures stand beside it, or null
 */
record TreeRow(String text, PlanNode node) {

    /** Characters that a terminal shows. */
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

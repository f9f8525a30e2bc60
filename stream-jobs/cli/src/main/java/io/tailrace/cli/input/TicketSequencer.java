package io.tailrace.cli.input;

/** Runs the turns of several threads one after another, in the order of their tickets: 0, 1, 2, … */
final class TicketSequencer {

    private long next;
    private boolean isAbandoned;

    /** Waits for the turn of this ticket; returns false if no further turn comes. */
    synchronized boolean await(long ticket) {
        try {
            while (next != ticket && !isAbandoned) {
                wait();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException("nothing interrupts a thread that waits for its turn", e);
        }
        return !isAbandoned;
    }

    /** Ends the current turn. */
    synchronized void done() {
        next++;
        notifyAll();
    }

    /** Ends all turns, because one failed and the threads after it would wait indefinitely. */
    synchronized void abandon() {
        isAbandoned = true;
        notifyAll();
    }
}

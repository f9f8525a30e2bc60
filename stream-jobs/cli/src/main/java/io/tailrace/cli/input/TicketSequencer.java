package io.tailrace.cli.input;

/** Lets threads do something one after the other, in the order of their tickets: 0, 1, 2, … */
final class TicketSequencer {

    private long next;
    private boolean isAbandoned;

    /** Waits for the turn of this ticket; false where no turn comes any more. */
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

    /** Ends the turn of the ticket that has it. */
    synchronized void done() {
        next++;
        notifyAll();
    }

    /** Ends all turns: one failed, and those behind it would wait for ever. */
    synchronized void abandon() {
        isAbandoned = true;
        notifyAll();
    }
}

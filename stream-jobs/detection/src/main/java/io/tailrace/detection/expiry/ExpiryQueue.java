package io.tailrace.detection.expiry;

import java.util.PriorityQueue;

/**
 * Finds the items that may have expired without a scan of all others. A place in the queue costs O(log n) when it is
 * taken and given up, and nothing in between. Not thread-safe.
 *
 * @param <T> an item is in one queue at most
 */
public final class ExpiryQueue<T extends ExpiryQueue.Item> {

    /** The time of an item that does not expire. */
    public static final long NEVER = Long.MAX_VALUE;

    /** An item with the time at which it is due. */
    public abstract static class Item {

        private long due = NEVER;
    }

    private record Place<T>(long due, T item) implements Comparable<Place<T>> {

        @Override
        public int compareTo(Place<T> other) {
            return Long.compare(due, other.due);
        }
    }

    private final PriorityQueue<Place<T>> places = new PriorityQueue<>();

    /**
     * Makes an item due at a time, unless it is due earlier. The place of a later time stays in the queue and is skipped.
     *
     * @param due microseconds since 1970 UTC, or {@link #NEVER}
     */
    public void schedule(T item, long due) {
        Item scheduled = item;
        if (due < scheduled.due) {
            scheduled.due = due;
            places.add(new Place<>(due, item));
        }
    }

    /**
     * Removes an item that was due before a time.
     *
     * @param micros microseconds since 1970 UTC
     * @return null if there is none; otherwise, the caller schedules the item again unless it has expired
     */
    public T pollBefore(long micros) {
        while (!places.isEmpty() && places.peek().due < micros) {
            Place<T> place = places.poll();
            Item item = place.item;
            if (item.due == place.due) {
                item.due = NEVER;
                return place.item;
            }
        }
        return null;
    }
}

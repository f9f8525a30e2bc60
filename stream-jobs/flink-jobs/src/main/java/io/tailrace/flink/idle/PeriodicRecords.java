package io.tailrace.flink.idle;

import java.io.Serializable;

/** Which records of a source also arrive while nothing happens: they do not end a pause. */
@FunctionalInterface
public interface PeriodicRecords<T> extends Serializable {

    boolean contain(T record);
}

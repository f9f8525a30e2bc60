package io.tailrace.audit.record;

/** Receives the members of a record, in the record's order. */
public interface MemberHandler {

    /**
     * Receives one member with its value.
     *
     * @param name as the log spells it; in nested records with the names of its parents: {@code login.user}
     * @param value contains the unescaped value up to {@code length}; valid only during the call
     */
    void member(String name, byte[] value, int length);

    /** Receives the end of an object that is an element of the array of that name. */
    default void element(String name) {}
}

package io.tailrace.audit.record;

/** Receives the members of a record, in the record's order. */
public interface MemberHandler {

    /**
     * One member with its value.
     *
     * @param name as the log spells it; in nested records with the names around it: {@code login.user}
     * @param value holds the unescaped value up to {@code length}; only lent
     */
    void member(String name, byte[] value, int length);

    /** An object that is an element of the array of that name has ended. */
    default void element(String name) {}
}

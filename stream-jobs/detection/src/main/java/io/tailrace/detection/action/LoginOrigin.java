package io.tailrace.detection.action;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * The client of a refused login, as far as the log identifies it.
 *
 * @param connection connection id; 0: unknown
 * @param address hash of the client's address; 0: unknown
 * @param name hash of the client's host name; 0: unknown
 */
record LoginOrigin(long connection, long address, long name) {

    static final LoginOrigin UNKNOWN = new LoginOrigin(0, 0, 0);

    /** Returns whether all values that both origins contain are equal. */
    boolean matches(LoginOrigin other) {
        return agree(connection, other.connection) && agree(address, other.address) && agree(name, other.name);
    }

    private static boolean agree(long one, long other) {
        return one == 0 || other == 0 || one == other;
    }

    /** Returns the values of both origins. */
    LoginOrigin and(LoginOrigin other) {
        return new LoginOrigin(
                connection == 0 ? other.connection : connection,
                address == 0 ? other.address : address,
                name == 0 ? other.name : name);
    }

    void write(DataOutput out) throws IOException {
        out.writeLong(connection);
        out.writeLong(address);
        out.writeLong(name);
    }

    static LoginOrigin read(DataInput in) throws IOException {
        return new LoginOrigin(in.readLong(), in.readLong(), in.readLong());
    }
}

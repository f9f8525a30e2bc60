package io.tailrace.detection.action;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * Where a refused login came from, as far as a log says so.
 *
 * @param connection its id; 0: unknown
 * @param address hash of the client's address; 0: unknown
 * @param name hash of the client's host name; 0: unknown
 */
record LoginOrigin(long connection, long address, long name) {

    static final LoginOrigin UNKNOWN = new LoginOrigin(0, 0, 0);

    /** Whether nothing that both know differs. */
    boolean matches(LoginOrigin other) {
        return agree(connection, other.connection) && agree(address, other.address) && agree(name, other.name);
    }

    private static boolean agree(long one, long other) {
        return one == 0 || other == 0 || one == other;
    }

    /** What both know together. */
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

package io.tailrace.generallog;

import io.tailrace.audit.record.ProtocolCommand;
import io.tailrace.lexer.ByteText;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.Set;

/** Recognizes commands by their names in the general log. */
final class CommandNames {

    /** Records of audit plugins, which the general log does not contain. */
    private static final Set<ProtocolCommand> NOT_LOGGED =
            EnumSet.of(ProtocolCommand.DISCONNECT, ProtocolCommand.FAILED_LOGIN, ProtocolCommand.PRE_AUTHENTICATE);

    /** Sorted by length, longest first, because one name may be a prefix of another. */
    private static final ProtocolCommand[] COMMANDS = EnumSet.complementOf(EnumSet.copyOf(NOT_LOGGED)).stream()
            .sorted(Comparator.comparingInt(command -> -command.wireName().length()))
            .toArray(ProtocolCommand[]::new);

    private static final byte[][] NAMES = bytes();

    private CommandNames() {}

    private static byte[][] bytes() {
        byte[][] names = new byte[COMMANDS.length][];
        for (int i = 0; i < names.length; i++) {
            names[i] = ByteText.ascii(COMMANDS[i].wireName());
        }
        return names;
    }

    /**
     * Returns the command whose name is at {@code from}, followed by a blank, a tab or the line's end; otherwise
     * null.
     */
    static ProtocolCommand at(byte[] line, int from, int to) {
        for (int i = 0; i < NAMES.length; i++) {
            int end = from + NAMES[i].length;
            if (ByteText.startsWith(line, from, to, NAMES[i]) && (end == to || ByteText.isBlank(line[end]))) {
                return COMMANDS[i];
            }
        }
        return null;
    }
}

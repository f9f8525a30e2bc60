package io.tailrace.errorlog;

import io.tailrace.framing.EntryFramer;
import io.tailrace.framing.EntryParser;
import io.tailrace.framing.LogFormat;
import io.tailrace.innodb.RedoLogCapacities;
import io.tailrace.lexer.ByteText;

/**
 * The error log of MySQL, Percona Server, XtraDB Cluster and MariaDB, as text or from the JSON sink, including the
 * output of other programs in it; XtraBackup's own log; the output of InnoDB's monitor, also captured from a client.
 */
public final class ErrorLogFormat implements LogFormat {

    public static final String NAME = "mysql-error";

    private static final byte[][] MESSAGES = {
        ByteText.ascii("InnoDB:"),
        ByteText.ascii("mysqld"),
        ByteText.ascii("- mysqld got "),
        ByteText.ascii("server_audit: "),
        ByteText.ascii("xtrabackup"),
        ByteText.ascii("innobackupex"),
        ByteText.ascii("WSREP"),
        ByteText.ascii("mariadbd"),
        ByteText.ascii("[00] "),
        ByteText.ascii("[01] "),
        ByteText.ascii(">> log scanned up to"),
        ByteText.ascii("version_check "),
        ByteText.ascii("Backup "),
        ByteText.ascii("Connecting to M"),
        ByteText.ascii("UTC - mysqld got "),
        ByteText.ascii("UTC - mariadbd got "),
    };

    private final RedoLogCapacities redoLogs;

    public ErrorLogFormat() {
        this(RedoLogCapacities.unknown());
    }

    /** Creates a format that knows the capacities of redo logs, from which the checkpoint age is rated. */
    public ErrorLogFormat(RedoLogCapacities redoLogs) {
        this.redoLogs = redoLogs;
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public EntryFramer newFramer() {
        return new ErrorLogFramer();
    }

    @Override
    public EntryFramer restoreFramer(byte[] snapshot) {
        return ErrorLogFramer.restore(snapshot);
    }

    @Override
    public EntryParser newParser() {
        return new ErrorLogParser(redoLogs);
    }

    /** Returns whether the line, without its line end, can only occur in an error log. */
    public static boolean classifies(byte[] bytes, int from, int to) {
        ErrorLine line = new ErrorLine();
        if (!line.read(bytes, from, to)) {
            return MessageBoundaries.isMonitorHeader(bytes, from, to);
        }
        if (line.form != ErrorLine.Form.TEXT || line.levelTo > line.levelFrom) {
            return true;
        }
        for (byte[] message : MESSAGES) {
            if (ByteText.startsWith(bytes, line.messageFrom, to, message)) {
                return true;
            }
        }
        return MessageBoundaries.isMonitorHeader(bytes, from, to);
    }
}

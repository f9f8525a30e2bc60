package io.tailrace.errorlog;

import java.util.Map;

/**
 * Determines a message's kind: by its code if one is known, because {@code lc_messages} does not affect codes;
 * otherwise by words of the English message. The first rule that matches decides.
 */
final class ErrorKinds {

    private record Rule(ErrorKind kind, String... words) {

        boolean fits(String message) {
            for (String word : words) {
                if (message.contains(word)) {
                    return true;
                }
            }
            return false;
        }
    }

    /** Length of a message that is searched, characters. */
    private static final int SEARCHED = 4 << 10;

    /** Codes of MySQL 8.0 and later, from its messages_to_error_log.txt. */
    private static final Map<String, ErrorKind> CODES = Map.ofEntries(
            Map.entry("MY-010926", ErrorKind.ACCESS_DENIED),
            Map.entry("MY-010927", ErrorKind.ACCESS_DENIED),
            Map.entry("MY-010914", ErrorKind.CONNECTION_ABORTED),
            Map.entry("MY-013130", ErrorKind.CONNECTION_ABORTED),
            Map.entry("MY-010557", ErrorKind.REPLICATION_ERROR),
            Map.entry("MY-010567", ErrorKind.REPLICATION_ERROR),
            Map.entry("MY-010584", ErrorKind.REPLICATION_ERROR),
            Map.entry("MY-010586", ErrorKind.REPLICATION_ERROR),
            Map.entry("MY-013114", ErrorKind.REPLICATION_ERROR),
            Map.entry("MY-013117", ErrorKind.REPLICATION_ERROR),
            Map.entry("MY-013125", ErrorKind.REPLICATION_ERROR),
            Map.entry("MY-010462", ErrorKind.REPLICATION_STATE),
            Map.entry("MY-010559", ErrorKind.REPLICATION_STATE),
            Map.entry("MY-010562", ErrorKind.REPLICATION_STATE),
            Map.entry("MY-010570", ErrorKind.REPLICATION_STATE),
            Map.entry("MY-010581", ErrorKind.REPLICATION_STATE),
            Map.entry("MY-010587", ErrorKind.REPLICATION_STATE),
            Map.entry("MY-010596", ErrorKind.REPLICATION_STATE),
            Map.entry("MY-011026", ErrorKind.REPLICATION_STATE),
            Map.entry("MY-014001", ErrorKind.REPLICATION_STATE),
            Map.entry("MY-014002", ErrorKind.REPLICATION_STATE),
            Map.entry("MY-010597", ErrorKind.ROLE_CHANGE),
            Map.entry("MY-012468", ErrorKind.DEADLOCK),
            Map.entry("MY-012469", ErrorKind.DEADLOCK),
            Map.entry("MY-010116", ErrorKind.SERVER_STATE),
            Map.entry("MY-010931", ErrorKind.SERVER_STATE),
            Map.entry("MY-010910", ErrorKind.SERVER_STATE),
            Map.entry("MY-013172", ErrorKind.SERVER_STATE),
            Map.entry("MY-012551", ErrorKind.SERVER_STATE),
            Map.entry("MY-012552", ErrorKind.SERVER_STATE),
            Map.entry("MY-010747", ErrorKind.PLUGIN_CHANGE),
            Map.entry("MY-010733", ErrorKind.PLUGIN_CHANGE),
            Map.entry("MY-011825", ErrorKind.BACKUP));

    // spotless:off
    private static final Rule[] GALERA = {
        // Its options contain half of the words below.
        new Rule(ErrorKind.CLUSTER_VIEW, "Passing config to GCS"),
        new Rule(ErrorKind.CLUSTER_INCONSISTENT, "Inconsistency detected", "nconsistent by consensus",
                "inconsistency with respect to group", "initiates vote", "responds to vote", "Votes over",
                "inconsistent with group"),
        new Rule(ErrorKind.QUORUM_LOST, "NON-PRIMARY", "NON_PRIM", "non-primary", "non-Primary", "no nodes coming from prim view",
                "failed to reach primary view", "primary = no", "Quorum: No node with complete state", "prim not possible",
                "lost quorum", "not in primary state"),
        new Rule(ErrorKind.CLUSTER_CONFLICT, "BF abort", "BF-abort", "conflict state", "cluster conflict",
                "Trx conflict", "onflict for key", "certification failure", "certification failed"),
        new Rule(ErrorKind.IST, " IST ", "IST sender", "IST receiver", "IST applier", "Receiving IST", "IST uuid",
                "IST request", "IST: ", "IST first seqno", "async IST"),
        new Rule(ErrorKind.SST, " SST", "wsrep_sst", "sst_", "State transfer", "state transfer", "SST ", "State Transfer"),
        new Rule(ErrorKind.FLOW_CONTROL, "low-control", "low control", "FC_", "Flow control"),
        new Rule(ErrorKind.CLUSTER_VIEW, "view(", "view (", "New COMPONENT", "New cluster view", "New SELF-LEAVE",
                "cleaning up ", "declaring ", "forgetting ", "View:", "Quorum results", "Received SELF-LEAVE",
                "turning message relay requesting", "suspecting node", "connection established", "reconnecting to",
                "evs::proto", "evicting", "left the cluster", "joined"),
        new Rule(ErrorKind.CLUSTER_STATE, "Shifting ", "Server status change", "synchronized with group",
                "synced with group", "Synchronized with group", "Become joined", "Member "),
    };
    // spotless:on

    private static final Rule ERRANT = new Rule(
            ErrorKind.ERRANT_GTID,
            "rrant",
            "more GTIDs than the",
            "transactions not present in the group",
            "more executed transactions than those present");

    // spotless:off
    private static final Rule[] RULES = {
        new Rule(ErrorKind.ACCESS_DENIED, "Access denied for user", "Access denied; you need",
                "is blocked because of many connection errors", "is not allowed to connect", "Account is locked",
                "assword has expired"),
        new Rule(ErrorKind.CONNECTION_ABORTED, "Aborted connection", "Aborting connection", "communication packets",
                "Could not read packet", "Could not write packet", "Got a packet bigger than"),
        new Rule(ErrorKind.TOO_MANY_CONNECTIONS, "Too many connections"),
        new Rule(ErrorKind.CRASH, " got signal ", " got exception 0x", "Assertion failure", "Segmentation fault"),
        new Rule(ErrorKind.DEADLOCK, "eadlock detected", "aborted due to Deadlock", "WE ROLL BACK TRANSACTION"),
        new Rule(ErrorKind.FOREIGN_KEY_ERROR, "oreign key constraint fails", "rror in foreign key constraint"),
        new Rule(ErrorKind.INNODB_MONITOR, "INNODB MONITOR OUTPUT", "Starts InnoDB Monitor"),
        new Rule(ErrorKind.DISK_FULL, "Disk is full", "Disk full", "disk is full", "No space left on device", "errno: 28 ",
                "errno: 28)", "Error number 28", "error: 28", "OS errno 28", "(errno 28", "is full"),
        ERRANT,
        // Counters of the applier, every two minutes: they contain "Worker ", as errors of the applier do.
        new Rule(ErrorKind.REPLICATION_STATE, "Multi-threaded slave statistics", "Multi-threaded replica statistics"),
        new Rule(ErrorKind.REPLICATION_ERROR, "error 1236", "Error_code: 1062", "Error_code: MY-001062",
                "Error_code: 1032", "Error_code: MY-001032", "SQL thread aborted", "Could not execute",
                "Error reading packet from server", "Error reading relay log event", "Relay log read failure",
                "purged required binary logs", "error connecting to master", "error connecting to source",
                "error reconnecting to", "Slave SQL for channel", "Replica SQL for channel", "Slave I/O for channel",
                "Replica I/O for channel", "Slave I/O: ", "Slave SQL: ", "Worker ", "replication event too large",
                "log event entry exceeded max_allowed_packet", "Failed to open the relay log",
                "relay log initialization", "initialize the master info", "relay-bin is corrupt",
                "applier thread execution was aborted"),
        new Rule(ErrorKind.ROLE_CHANGE, "CHANGE MASTER TO", "CHANGE REPLICATION SOURCE", "super_read_only",
                "Setting read_only", "was elected", "A new primary", "primary member", "secondary member",
                "RESET MASTER", "RESET REPLICA", "RESET SLAVE", "ailover"),
        new Rule(ErrorKind.QUORUM_LOST, "able to reach a majority", "majority of the members", "was expelled",
                "left the group", "expelled from the group"),
        new Rule(ErrorKind.CLUSTER_VIEW, "Members joined the group", "Members removed from the group",
                "Group membership changed", "Member with address"),
        new Rule(ErrorKind.REPLICATION_STATE, "binlog_dump", "replication started in log", "starting replication in log",
                "connected to master", "connected to source", "SQL thread initialized", "I/O thread exiting",
                "SQL thread exiting", "I/O thread killed", "Slave I/O thread", "Slave SQL thread", "Replica I/O thread",
                "Replica SQL thread", "I/O thread aborted", "zombie dump thread", "emi-sync", "emisync"),
        new Rule(ErrorKind.CORRUPTION, "page corruption", "is corrupt", "orrupted", "marked as crashed",
                "checksum mismatch", "corruption in the InnoDB tablespace"),
        new Rule(ErrorKind.OUT_OF_MEMORY, "ut of memory", "annot allocate", "an't allocate", "OOM"),
        new Rule(ErrorKind.INNODB_PRESSURE, "page_cleaner: ", "long semaphore wait", "emaphore wait has lasted",
                "ifficult to find free blocks", "annot find a free", "The age of the last checkpoint",
                "redo log is too small", "age of the last checkpoint", "checkpoint age", "waits for purge",
                "History list length", "Over 67 percent of the buffer pool", "over 95 percent of the buffer pool",
                "too many active concurrent", "Pending preads", "ong wait"),
        new Rule(ErrorKind.SERVER_STATE, "starting as process", "ready for connections", "Normal shutdown",
                "Received SHUTDOWN", "Shutdown complete", "hutdown completed", "Starting MariaDB", "Starting mysqld",
                "Starting mariadbd", "mysqld started", "mysqld ended", "mysqld restarted", "Shutting down mysqld", "Shutdown started",
                "crash recovery", "Crash recovery", "Database was not shut down normally", "ignal 15", "Starting shutdown",
                "from pid file", "initializing of server", "Aborting"),
        new Rule(ErrorKind.PLUGIN_CHANGE, "Plugin '", "plugin '", "server_audit: ", "Shutting down plugin",
                "audit_log:", "component '", "plugin directory", "Loaded '"),
    };
    // spotless:on

    private static final Rule BACKUP = new Rule(
            ErrorKind.BACKUP,
            "xtrabackup",
            "Xtrabackup",
            "innobackupex",
            "completed OK!",
            "log scanned up to",
            "Transaction log of lsn",
            "mariabackup",
            "mariadb-backup",
            "[00] ",
            "[01] ");

    private ErrorKinds() {}

    /**
     * Returns the kind of a message.
     *
     * @param code {@code MY-010926} or empty
     * @param message without its header
     */
    static ErrorKind of(String subsystem, String code, String message) {
        String searched = message.substring(0, Math.min(message.length(), SEARCHED));
        ErrorKind known = CODES.get(code);
        if (known == ErrorKind.REPLICATION_ERROR) {
            return ERRANT.fits(searched) ? ErrorKind.ERRANT_GTID : known;
        }
        return known != null ? known : byWords(subsystem, searched);
    }

    private static ErrorKind byWords(String subsystem, String message) {
        if (subsystem.startsWith("WSREP") || subsystem.startsWith("Galera") || message.startsWith("WSREP: ")) {
            ErrorKind found = subsystem.equals("WSREP-SST") ? ErrorKind.SST : first(GALERA, message);
            return found == ErrorKind.OTHER ? first(RULES, message) : found;
        }
        if (message.startsWith("Access denied for user '") || message.startsWith("Aborted connection ")) {
            return first(RULES, message); // The names are those of a client, such as mariabackup.
        }
        boolean backup = subsystem.equalsIgnoreCase("Xtrabackup") || BACKUP.fits(message);
        return backup ? ErrorKind.BACKUP : first(RULES, message);
    }

    private static ErrorKind first(Rule[] rules, String message) {
        for (Rule rule : rules) {
            if (rule.fits(message)) {
                return rule.kind();
            }
        }
        return ErrorKind.OTHER;
    }
}

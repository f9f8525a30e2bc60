package io.tailrace.detection.detector;

import io.tailrace.detection.sigma.rule.Level;
import io.tailrace.detection.sigma.rule.RuleHeader;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The types of detectors, with the texts of their alerts. Ids and names of constants never change, because alerts and
 * state store them; {@link #fileKey()} is the key in {@code detectors.yaml}.
 */
public enum DetectorType {
    FIRST_SEEN_USER(
            "2fcfabd4-81e5-5b97-8e57-6ca3e458ed7a",
            Level.LOW,
            "First activity of an account",
            "An account is active that the detector has not seen on this cluster before.",
            List.of("attack.initial-access", "attack.persistence", "attack.t1078"),
            List.of("A new application or colleague."),
            List.of(
                    "Ask who created the account and for whom.",
                    "Check which privileges it has and what it did first.")),
    FIRST_SEEN_HOST(
            "448870f8-989a-5baa-856e-545a0e1c6dae",
            Level.MEDIUM,
            "Activity from a new network or host name",
            "An account is used from a network or host name from which the detector has not seen it. Its password may be stolen, or its client was moved.",
            List.of("attack.initial-access", "attack.t1078"),
            List.of("A client that was moved, or a new client of the same application."),
            List.of("Find the client behind the address and its owner.", "List what the connection did.")),
    FIRST_SEEN_PROGRAM(
            "a018c94c-4dbe-55fe-8bea-1ec4e543d21c",
            Level.MEDIUM,
            "Activity with a new client program",
            "A person may use the password of an application in their own client.",
            List.of("attack.initial-access", "attack.lateral-movement", "attack.t1078"),
            List.of("A new release of the client or its driver."),
            List.of("Ask whether a person uses the account of an application interactively.")),
    FIRST_SEEN_TABLE(
            "91749bda-6958-55af-9a4d-29c4ce7deb1c",
            Level.LOW,
            "First access to a table",
            "An account accesses a table that the detector has not seen it access, as after a new release. It may also be a curious user or a compromised application.",
            List.of("attack.collection", "attack.discovery", "attack.t1213"),
            List.of("A new release of the application.", "A new report."),
            List.of("Check whether the account needs this table for its purpose.")),
    FIRST_SEEN_CHANGE(
            "153b7ec1-0991-5865-8d78-0ab5e12a65a8",
            Level.LOW,
            "First change of rows or of sensitive columns, or first stored program, of an account",
            "An account updates or deletes rows of a table, or creates a stored program, for the first time, or sets secrets, rights, bank details or balances of a table, or changes entries of a log of an application, or copies or drops a table, for the first time, or changes bank details at an hour at which it was never active. It may be a person who uses the privileges of an application, or an injection.",
            List.of("attack.impact", "attack.persistence", "attack.t1565.001", "attack.t1098"),
            List.of("A new release of the application.", "An administrator who corrects rows."),
            List.of(
                    "Ask the person or the owner of the application for the reason of the change.",
                    "Compare the rows with the backup or the binary log.")),
    FIRST_SEEN_READ(
            "c2f4a7d1-6b83-5e09-8d57-31ab90e4f6c2",
            Level.LOW,
            "First read of secrets, bank details, pay or all rows of a table by an account",
            "An account selects columns of passwords, codes, bank details or salaries, or all rows of a table, and did not do so on earlier days, or uses a table although it only read catalogues on earlier days.",
            List.of("attack.collection", "attack.credential-access", "attack.t1213", "attack.t1555"),
            List.of("A new release of an application.", "A person with a new task."),
            List.of(
                    "Ask the person or the owner of the application for the reason.",
                    "Check what the account did next.")),
    FIRST_SEEN_DATA_CLASS(
            "145d1f62-8ea4-5be7-93c5-93837e6bb4c8",
            Level.HIGH,
            "First access of a program to a data class",
            "A program accesses sensitive data that the detector has not seen it access.",
            List.of("attack.collection", "attack.t1213"),
            List.of("A new release of the program."),
            List.of("Ask the owner of the program whether it needs these data.")),
    DORMANT_ACCOUNT(
            "2c908021-d02a-5bef-8708-4b2048aa4120",
            Level.MEDIUM,
            "Activity of a dormant account",
            "Forgotten accounts keep old passwords, and their use goes unnoticed.",
            List.of("attack.initial-access", "attack.persistence", "attack.t1078"),
            List.of("A job that runs once a quarter, or a colleague who was absent."),
            List.of("Ask the owner.", "Lock accounts that are not needed.")),
    OFF_HOURS(
            "7b56e406-0044-5e60-b662-1fe0e82e5b97",
            Level.LOW,
            "Activity outside of usual hours",
            "A compromised account is often used while its owner is absent.",
            List.of("attack.initial-access", "attack.t1078"),
            List.of("Work in the night of a release.", "A user who travels in another time zone."),
            List.of("Ask the owner.", "Check whether the user has used this host and program before.")),
    VOLUME_ROWS(
            "14ed3755-25d9-563b-915b-8998bc4f65e0",
            Level.MEDIUM,
            "Unusual number of rows sent",
            "Data may be exfiltrated.",
            List.of("attack.collection", "attack.exfiltration", "attack.t1030"),
            List.of("An export, a migration, or a report that runs for the first time."),
            List.of("Check the statements that returned the most rows.", "Ask who receives the rows.")),
    VOLUME_STATEMENTS(
            "299889f9-1159-59d0-9b5e-85d8996ef43a",
            Level.LOW,
            "Unusual number of statements",
            "Data may be exfiltrated in small pieces, or an application is compromised.",
            List.of("attack.collection", "attack.discovery", "attack.t1213"),
            List.of("A load test, a migration, or a failing statement that is retried in a loop."),
            List.of("Check the most frequent statements of that hour.")),
    VOLUME_TABLES(
            "8241b8f8-a1b9-5d37-a4c3-ae81f1d48c7c",
            Level.MEDIUM,
            "Unusual number of tables",
            "A user may explore the data or copy all of it.",
            List.of("attack.collection", "attack.discovery", "attack.t1213"),
            List.of("A backup, a migration, or a tool that reads all tables."),
            List.of("Check the tables that the account does not need for its purpose.")),
    PRIVILEGE_CHAIN(
            "2f42d5eb-61f7-5ec8-8cbe-619c1d80f0b2",
            Level.HIGH,
            "First privileged operation after a grant",
            "Within a day after a change of accounts or grants, an account performed a privileged operation that no account of its name had performed before.",
            List.of("attack.privilege-escalation", "attack.persistence", "attack.t1098", "attack.t1136"),
            List.of("An administrator who prepares a new release."),
            List.of(
                    "Ask who granted the privilege, over a channel other than the database.",
                    "Revoke the privilege until that is clear.")),
    TAMPERING_CHAIN(
            "a6bb632f-3a15-5aba-8f44-db81a0031be5",
            Level.CRITICAL,
            "Activity after tampering with logs",
            "A log may have been switched off to hide the operations that followed.",
            List.of("attack.defense-evasion", "attack.t1562.008", "attack.t1070"),
            List.of("An administrator at work: compare with the change calendar."),
            List.of(
                    "Treat the account as compromised.",
                    "Compare with other logs of that time: slow log, binary log, network.")),
    IMPOSSIBLE_PLACES(
            "4df78519-ca66-5e7f-b416-fca222432ff7",
            Level.HIGH,
            "Impossible travel",
            "No person travels that fast. Two people may use the account, or one of the addresses is that of a VPN.",
            List.of("attack.initial-access", "attack.t1078"),
            List.of("A VPN, or an application that runs at both places: add their networks to exceptions."),
            List.of("Find out which of the two addresses does not belong to the owner.", "Change the password.")),
    CONCURRENT_NETWORKS(
            "92cc5669-f9ad-5e91-b435-1c699574bc5f",
            Level.LOW,
            "Concurrent activity from two networks",
            "Two people may use the account, or it belongs to an application.",
            List.of("attack.initial-access", "attack.t1078"),
            List.of("Applications on several machines."),
            List.of("Find out which of the two addresses does not belong to the owner.")),
    COVERAGE(
            "09528526-fdd2-5473-ab04-54b055921698",
            Level.HIGH,
            "Census timeout of an instance",
            "The census no longer reports which logs the instance has and how long they are. Events of the instance may not arrive, so rules cannot fire.",
            List.of("attack.defense-evasion", "attack.t1562.001", "attack.t1562.008"),
            List.of(
                    "Maintenance or decommissioning of the machine or its collector.",
                    "An outage of the network or of the Kafka broker: then the census of all instances stops at the same time."),
            List.of(
                    "Check whether the machine, the census and the collector run, and who stopped them.",
                    "After they run again, compare the unknown minutes with other logs: binary log, network, host.")),
    COVERAGE_GAP(
            "2c8b1764-7085-5f16-ac8a-af4841fbb52a",
            Level.MEDIUM,
            "Gap in a log",
            "The server wrote bytes to a log that never arrived. The events in them are unknown.",
            List.of("attack.defense-evasion", "attack.t1070", "attack.t1562.008"),
            List.of(
                    "A collector that was killed, or whose buffer was full.",
                    "A server that crashed while it wrote the last line of a file."),
            List.of(
                    "Ship the bytes again: tailrace backfill.",
                    "If the file was deleted or truncated, find out who had access to the machine.")),
    PLAN_SLOWER(
            "5b3de7ad-0e3f-5c0e-9d4f-6a0b8c3c7a51",
            Level.MEDIUM,
            "Plan regression",
            "The optimizer chose another plan, and the increase of the execution time exceeds its earlier variation.",
            List.of("performance.plan"),
            List.of("Growth of the data: the new plan may be the best one now."),
            List.of(
                    "Compare the two plans: tailrace plan --diff, or the dashboard Plans.",
                    "Check whether an index was dropped or statistics are stale: SHOW CREATE TABLE, ANALYZE TABLE.")),
    FIRST_SEEN_STATEMENT(
            "6d0d4a0e-4b0b-5d57-9d0a-0f7c2c1c44e1",
            Level.LOW,
            "First execution of a statement by an account",
            "An account of an application runs a statement of a class that it never ran before, as after an injection.",
            List.of("attack.initial-access", "attack.execution", "attack.t1190"),
            List.of("A new release of the application.", "A rare path of the application."),
            List.of(
                    "Find the part of the application that sends the statement, by its tag or trace, the time and the host.",
                    "Add an exception for the hours of releases.")),
    LOGIN_FAILURES(
            "0f5c8f0e-6a0b-5d0f-8a55-1f3f5a9d2c61",
            Level.MEDIUM,
            "Unusual number of refused logins",
            "More logins were refused in a day or a week than usual for the account, client or network. Slow and distributed guessing stays below the limits of minutes.",
            List.of("attack.credential-access", "attack.t1110"),
            List.of("A job with an old password after a rotation.", "A new client that is not configured yet."),
            List.of(
                    "Check whether a login to the account succeeded afterwards.",
                    "Find the owner of the client; block it at the firewall if it is unknown.")),
    LOGIN_AFTER_GUESSING(
            "5f0b0c9a-3a0b-5a3e-9a0d-7d2a4f6f4b18",
            Level.HIGH,
            "First login after refused logins on several days",
            "A password may have been guessed slowly, or by clients other than the one that logged in. It may also have been corrected.",
            List.of("attack.credential-access", "attack.initial-access", "attack.t1110", "attack.t1078"),
            List.of("A job with an old password that was corrected.", "A client that moved to a new network."),
            List.of(
                    "Lock the account until its owner confirms the login.",
                    "List the activity of the connection by its connection_id.")),
    VOLUME_QUERY_ROWS(
            "c1a9f2d4-0e7b-5b1c-8f0e-52d4a8e7b390",
            Level.MEDIUM,
            "Unusual number of rows sent by one statement",
            "One statement sent far more rows than usual. Its executions may read data page by page or row by row.",
            List.of("attack.collection", "attack.exfiltration", "attack.t1030", "attack.t1213"),
            List.of(
                    "A new feature that reads in pages.",
                    "An export or a synchronization that runs for the first time."),
            List.of("Check what the statement reads and who receives the rows.", "Compare with the release calendar.")),
    VOLUME_QUERY_STATEMENTS(
            "8d3e6b1f-94a2-5c57-b8d1-e60f5b2c7a94",
            Level.LOW,
            "Unusual number of executions of one statement",
            "Data may be read row by row, or an application is compromised.",
            List.of("attack.collection", "attack.t1213"),
            List.of("A load test, a new feature, or a failing statement that is retried in a loop."),
            List.of("Check what the statement reads.", "Compare with the release calendar.")),
    VOLUME_RANGES(
            "6715332a-07ca-52bf-bd5e-12dea9b8999e",
            Level.MEDIUM,
            "Table read, changed or deleted part by part",
            "An account executed many statements whose only condition is a range, a pattern, a remainder or a page of a table, and did not do so on earlier days. Together they may copy or delete the whole table.",
            List.of(
                    "attack.collection",
                    "attack.exfiltration",
                    "attack.impact",
                    "attack.t1030",
                    "attack.t1213",
                    "attack.t1485"),
            List.of(
                    "A new job that extracts or archives a table.",
                    "A person who searches for a record with many patterns."),
            List.of(
                    "Check whether the ranges or patterns cover the whole table.",
                    "Ask the person or the owner of the job for the reason.")),
    VOLUME_LOOKUPS(
            "4e7c1a95-2b60-5d38-9c41-7f0ad26be813",
            Level.MEDIUM,
            "Sensitive rows read or changed one by one",
            "An account read or changed far more sensitive rows by single values than on earlier days. Together the statements may copy or falsify a whole table.",
            List.of(
                    "attack.collection",
                    "attack.exfiltration",
                    "attack.impact",
                    "attack.t1030",
                    "attack.t1213",
                    "attack.t1565.001"),
            List.of(
                    "A new job that checks or exports rows one by one.",
                    "A person with an unusual task, such as a correction of many records."),
            List.of(
                    "Ask the person or the owner of the job for the reason.",
                    "Check in the application or the general log which rows were read.")),
    VOLUME_READS(
            "4102360b-d745-52c6-b1da-7d86f4b609a4",
            Level.MEDIUM,
            "Rows of a table read one by one",
            "An account read far more rows of a table by single values than on earlier days. Somebody may read all records through an application, one key after the other.",
            List.of("attack.collection", "attack.exfiltration", "attack.t1030", "attack.t1213"),
            List.of("A new job that reads rows one by one.", "A crawler of a public site."),
            List.of(
                    "Check in the access log of the application which client requested the records.",
                    "Check in the general log whether the values are consecutive.")),
    ROWS_AFFECTED(
            "b7e0d6a3-52cf-5f0a-9c64-3a18e0d97f25",
            Level.MEDIUM,
            "Unusual number of rows changed by one statement",
            "An UPDATE or DELETE changed far more rows of a table than statements of the last weeks.",
            List.of("attack.impact", "attack.t1485", "attack.t1565.001"),
            List.of("A migration or a planned clean-up."),
            List.of(
                    "Ask who ran the statement, and why.",
                    "Restore the rows from the binary log or a backup if nobody did on purpose.")),
    PEER_TABLES(
            "3c7be0f2-6d18-5a94-9f27-1be5d40c8a63",
            Level.LOW,
            "Access to a table that no peer accessed",
            "Accounts with the same purpose use the same tables. One of them accesses a table that neither it nor another of them accessed.",
            List.of("attack.collection", "attack.discovery", "attack.t1213"),
            List.of("A new table of the application, which one account reads first.", "A new task of one person."),
            List.of(
                    "Ask why the account needs the table and the others do not.",
                    "List what else the account did at that time.")),
    SIGNED_RANGE(
            "3a7d1c64-85e2-5f0b-9b27-6e4d0c51f8a9",
            Level.HIGH,
            "Signed range that cannot be verified",
            "The bytes of a log that arrived are not those that the host signed, or its chain of signatures is broken. Someone may have changed the log or its signatures between the server and the database.",
            List.of("attack.defense-evasion", "attack.t1565.002", "attack.t1070"),
            List.of(
                    "A key that was replaced without registering it.",
                    "A host whose signing state was deleted or restored from a backup."),
            List.of(
                    "Compare the file on the server with the stored entries of the range: tailrace verify.",
                    "Find out who can write to the Kafka topics of lines.",
                    "List the keys of the host: tailrace keys list."));

    private final String id;
    private final Level level;
    private final String title;
    private final String description;
    private final List<String> tags;
    private final List<String> falsePositives;
    private final List<String> nextSteps;

    DetectorType(
            String id,
            Level level,
            String title,
            String description,
            List<String> tags,
            List<String> falsePositives,
            List<String> nextSteps) {
        this.id = id;
        this.level = level;
        this.title = title;
        this.description = description;
        this.tags = tags;
        this.falsePositives = falsePositives;
        this.nextSteps = nextSteps;
    }

    /** Returns the key of this detector in Flink's state. It never changes, also if the key of the file does. */
    public String key() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the key of this detector in {@code detectors.yaml}. */
    public String fileKey() {
        return RenamedDetectorKeys.DETECTORS.getOrDefault(key(), key());
    }

    /** Returns the detector with a key of {@code detectors.yaml}, old or new; empty if the key is unknown. */
    public static Optional<DetectorType> of(String key) {
        return Arrays.stream(values())
                .filter(kind -> kind.fileKey().equals(key) || kind.key().equals(key))
                .findFirst();
    }

    Level level() {
        return level;
    }

    /** @param line line in {@code file} at which the detector is configured */
    RuleHeader header(Level chosen, String file, int line) {
        return new RuleHeader(
                id, key(), title, description, chosen, "test", tags, falsePositives, nextSteps, file, line);
    }
}

package io.tailrace.detection.detector;

import io.tailrace.detection.sigma.Level;
import io.tailrace.detection.sigma.RuleHeader;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The detectors that there are, and what they say about themselves. Their ids never change: alerts carry them. */
public enum DetectorType {
    FIRST_SEEN_USER(
            "2fcfabd4-81e5-5b97-8e57-6ca3e458ed7a",
            Level.LOW,
            "An account is used here for the first time",
            "An account that this cluster did not know is active.",
            List.of("attack.initial-access", "attack.persistence", "attack.t1078"),
            List.of("A new application or colleague."),
            List.of("Ask who made the account and for whom.", "See what it was granted and what it did first.")),
    FIRST_SEEN_HOST(
            "448870f8-989a-5baa-856e-545a0e1c6dae",
            Level.MEDIUM,
            "A user comes from a network that is new for it",
            "A password that is used from elsewhere is a stolen one, or a moved client.",
            List.of("attack.initial-access", "attack.t1078"),
            List.of("A client that was moved, or a new one of the same application."),
            List.of("Find the client behind the address and its owner.", "List what the connection did.")),
    FIRST_SEEN_PROGRAM(
            "a018c94c-4dbe-55fe-8bea-1ec4e543d21c",
            Level.MEDIUM,
            "A user comes with a program that is new for it",
            "An application's password in a person's client.",
            List.of("attack.initial-access", "attack.lateral-movement", "attack.t1078"),
            List.of("A new release of the client or its driver."),
            List.of("Ask whether somebody uses the account of an application by hand.")),
    FIRST_SEEN_TABLE(
            "91749bda-6958-55af-9a4d-29c4ce7deb1c",
            Level.LOW,
            "A user touches a table that is new for it",
            "Curiosity, or an application that was taken over, looks where nobody looked before.",
            List.of("attack.collection", "attack.discovery", "attack.t1213"),
            List.of("A new release of the application.", "A new report."),
            List.of("See whether the table is of the business of the account.")),
    FIRST_SEEN_DATA_CLASS(
            "145d1f62-8ea4-5be7-93c5-93837e6bb4c8",
            Level.HIGH,
            "A program reads a class of data that is new for it",
            "Data that is worth protecting leaves by a way that it never took.",
            List.of("attack.collection", "attack.t1213"),
            List.of("A new release of the program."),
            List.of("Ask the owner of the program whether it needs these data.")),
    DORMANT_ACCOUNT(
            "2c908021-d02a-5bef-8708-4b2048aa4120",
            Level.MEDIUM,
            "An account that nobody used for long is used again",
            "Forgotten accounts keep old passwords, and nobody notices who uses them.",
            List.of("attack.initial-access", "attack.persistence", "attack.t1078"),
            List.of("A job that runs once a quarter, or a colleague who was away."),
            List.of("Ask the owner.", "Lock accounts that nobody needs.")),
    OFF_HOURS(
            "7b56e406-0044-5e60-b662-1fe0e82e5b97",
            Level.LOW,
            "A user is active at an unusual time of the week",
            "Whoever took over an account works when its owner sleeps.",
            List.of("attack.initial-access", "attack.t1078"),
            List.of("Work in the night of a release.", "Another time zone, on a journey."),
            List.of("Ask the owner.", "See whether host and program are the usual ones.")),
    VOLUME_ROWS(
            "14ed3755-25d9-563b-915b-8998bc4f65e0",
            Level.MEDIUM,
            "A user was sent far more rows than usual",
            "Data are copied out.",
            List.of("attack.collection", "attack.exfiltration", "attack.t1030"),
            List.of("An export, a migration, a report that was never run."),
            List.of("Look at the statements that sent most.", "Ask for whom the rows are.")),
    VOLUME_STATEMENTS(
            "299889f9-1159-59d0-9b5e-85d8996ef43a",
            Level.LOW,
            "A user ran far more statements than usual",
            "Data are copied out piece by piece, or an application was taken over.",
            List.of("attack.collection", "attack.discovery", "attack.t1213"),
            List.of("A load test, a migration, an error that is retried without end."),
            List.of("Look at the most frequent statements of that hour.")),
    VOLUME_TABLES(
            "8241b8f8-a1b9-5d37-a4c3-ae81f1d48c7c",
            Level.MEDIUM,
            "A user touched far more tables than usual",
            "Somebody looks around, or copies all there is.",
            List.of("attack.collection", "attack.discovery", "attack.t1213"),
            List.of("A backup, a migration, a tool that reads all tables."),
            List.of("Look at the tables that are not of the business of the account.")),
    PRIVILEGE_CHAIN(
            "2f42d5eb-61f7-5ec8-8cbe-619c1d80f0b2",
            Level.HIGH,
            "A right was given, and used for the first time",
            "Within a day after accounts or grants were changed, an account did what it, or anybody of its name, never did before.",
            List.of("attack.privilege-escalation", "attack.persistence", "attack.t1098", "attack.t1136"),
            List.of("An administrator who prepares a new release."),
            List.of("Ask who granted it by another way than the database.", "Take the right away until then.")),
    TAMPERING_CHAIN(
            "a6bb632f-3a15-5aba-8f44-db81a0031be5",
            Level.CRITICAL,
            "Logs were tampered with, and then something was done",
            "Whoever switches a log off does so for what comes next.",
            List.of("attack.defense-evasion", "attack.t1562.008", "attack.t1070"),
            List.of("An administrator at work: compare with the change calendar."),
            List.of(
                    "Treat the account as taken over.",
                    "Compare with other logs of the time: slow log, binary log, network.")),
    IMPOSSIBLE_PLACES(
            "4df78519-ca66-5e7f-b416-fca222432ff7",
            Level.HIGH,
            "A user is at two places too far apart",
            "Nobody travels that fast: two people use the account.",
            List.of("attack.initial-access", "attack.t1078"),
            List.of("A VPN, or an application that runs at both places: their networks belong into exceptions."),
            List.of("Find out which of the two addresses is not the owner.", "Change the password.")),
    CONCURRENT_NETWORKS(
            "92cc5669-f9ad-5e91-b435-1c699574bc5f",
            Level.LOW,
            "A user is in two networks at the same time",
            "Two people use the account, or it belongs to an application.",
            List.of("attack.initial-access", "attack.t1078"),
            List.of("Applications on several machines."),
            List.of("Find out which of the two addresses is not the owner.")),
    COVERAGE(
            "09528526-fdd2-5473-ab04-54b055921698",
            Level.HIGH,
            "No census of an instance: its minutes are unknown",
            "Nobody says any more which logs the instance has and how long they are: nothing that happens there is seen, and no rule fires.",
            List.of("attack.defense-evasion", "attack.t1562.001", "attack.t1562.008"),
            List.of(
                    "The machine or its collector is being maintained, or was taken out of service.",
                    "The network or the broker was down: then all instances are silent at once."),
            List.of(
                    "See whether the machine, the census and the collector run, and who stopped them.",
                    "When they are back, compare the minutes with other logs: binary log, network, host.")),
    COVERAGE_GAP(
            "2c8b1764-7085-5f16-ac8a-af4841fbb52a",
            Level.MEDIUM,
            "Bytes of a log are missing",
            "A part of a log was written and never came: what happened there is not known.",
            List.of("attack.defense-evasion", "attack.t1070", "attack.t1562.008"),
            List.of(
                    "A collector that was killed, or whose buffer was full.",
                    "A server that died while it wrote the last line of a file."),
            List.of(
                    "Ship the bytes again: tailrace backfill.",
                    "If the file is gone or was cut, find out who was on the machine.")),
    PLAN_SLOWER(
            "5b3de7ad-0e3f-5c0e-9d4f-6a0b8c3c7a51",
            Level.MEDIUM,
            "A statement is slower since its plan changed",
            "The optimizer chose another plan, and executions take longer than they varied before.",
            List.of("performance.plan"),
            List.of("Data that grew: the new plan may be the best that there is now."),
            List.of(
                    "Compare the two plans: tailrace plan --diff, or the dashboard Plans.",
                    "See whether an index was dropped or statistics are stale: SHOW CREATE TABLE, ANALYZE TABLE."));

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

    /** The name by which the file knows it. */
    public String key() {
        return name().toLowerCase(Locale.ROOT);
    }

    public static Optional<DetectorType> of(String key) {
        return Arrays.stream(values()).filter(kind -> kind.key().equals(key)).findFirst();
    }

    Level level() {
        return level;
    }

    /** @param line of the file that configures it */
    RuleHeader header(Level chosen, String file, int line) {
        return new RuleHeader(
                id, key(), title, description, chosen, "test", tags, falsePositives, nextSteps, file, line);
    }
}

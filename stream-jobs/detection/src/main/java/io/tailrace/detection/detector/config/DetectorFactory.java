package io.tailrace.detection.detector.config;

import io.tailrace.detection.detector.DetectorDefinition;
import io.tailrace.detection.detector.DetectorEventFields;
import io.tailrace.detection.detector.DetectorOptions;
import io.tailrace.detection.detector.DetectorType;
import io.tailrace.detection.detector.StatefulDetector;
import io.tailrace.detection.detector.activity.DormantAccountDetector;
import io.tailrace.detection.detector.activity.OffHoursDetector;
import io.tailrace.detection.detector.firstseen.ChangedColumns;
import io.tailrace.detection.detector.firstseen.Dumps;
import io.tailrace.detection.detector.firstseen.ExpiringValueSet;
import io.tailrace.detection.detector.firstseen.FirstSeenDetector;
import io.tailrace.detection.detector.firstseen.FirstSeenDetector.Subject;
import io.tailrace.detection.detector.firstseen.Learning;
import io.tailrace.detection.detector.firstseen.Raised;
import io.tailrace.detection.detector.firstseen.ReadColumns;
import io.tailrace.detection.detector.firstseen.RecentShapes;
import io.tailrace.detection.detector.location.ClientNetwork;
import io.tailrace.detection.detector.location.GeoIpDatabase;
import io.tailrace.detection.detector.location.GeoLocation;
import io.tailrace.detection.detector.location.ImpossibleTravelDetector;
import io.tailrace.detection.detector.login.LoginAfterGuessingDetector;
import io.tailrace.detection.detector.login.LoginFailuresDetector;
import io.tailrace.detection.detector.peer.PeerGroups;
import io.tailrace.detection.detector.peer.PeerTablesDetector;
import io.tailrace.detection.detector.pipeline.CensusTimeoutDetector;
import io.tailrace.detection.detector.pipeline.LogGapDetector;
import io.tailrace.detection.detector.pipeline.PlanRegressionDetector;
import io.tailrace.detection.detector.pipeline.SignedRangeDetector;
import io.tailrace.detection.detector.sequence.LogTamperingDetector;
import io.tailrace.detection.detector.sequence.PrivilegeEscalationDetector;
import io.tailrace.detection.detector.volume.AffectedRowsDetector;
import io.tailrace.detection.detector.volume.HourlyBaseline;
import io.tailrace.detection.detector.volume.QueryVolumeDetector;
import io.tailrace.detection.detector.volume.RangeVolumeDetector;
import io.tailrace.detection.detector.volume.VolumeDetector;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import io.tailrace.detection.sigma.rule.Level;
import java.io.File;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/** Creates detectors from the file. It contains all defaults that several detectors share. */
final class DetectorFactory {

    private static final int MAX_PER_USER = 256;
    private static final int MAX_TABLES = 2_000;
    private static final int MAX_STATEMENTS = 2_000;
    private static final int MAX_USERS = 4_000;
    /** People change some tables less often than they read them, days. */
    private static final int CHANGES_SETTLE = 14;

    private DetectorFactory() {}

    static StatefulDetector detector(DetectorType kind, DetectorOptions settings) {
        DetectorDefinition basis = DetectorDefinition.of(settings);
        return switch (kind) {
            case FIRST_SEEN_USER -> firstSeen(settings, basis, "", "user", DetectorEventFields::isActivity, MAX_USERS);
            case FIRST_SEEN_HOST -> firstSeenHost(settings, basis);
            case FIRST_SEEN_PROGRAM -> firstSeenProgram(settings, basis);
            case FIRST_SEEN_TABLE -> firstSeenTable(settings, basis);
            case FIRST_SEEN_CHANGE -> firstSeenChange(settings, basis);
            case FIRST_SEEN_READ -> firstSeenRead(settings, basis);
            case FIRST_SEEN_DATA_CLASS -> firstSeenDataClass(settings, basis);
            case FIRST_SEEN_STATEMENT -> firstSeenStatement(settings, basis);
            case DORMANT_ACCOUNT -> new DormantAccountDetector(
                    basis, settings.days("inactivity", 35), settings.days("short_inactivity", 21));
            case OFF_HOURS -> new OffHoursDetector(basis, OffHoursDetector.Rhythm.of(settings));
            case VOLUME_ROWS -> volume(settings, basis, VolumeDetector.Measure.ROWS, 20_000);
            case VOLUME_STATEMENTS -> volume(settings, basis, VolumeDetector.Measure.STATEMENTS, 5_000);
            case VOLUME_TABLES -> volume(settings, basis, VolumeDetector.Measure.TABLES, 20);
            case PRIVILEGE_CHAIN -> new PrivilegeEscalationDetector(
                    basis, settings.days("window", 1), settings.days("learning", 7));
            case TAMPERING_CHAIN -> tamperingChain(settings, basis);
            case IMPOSSIBLE_PLACES -> impossiblePlaces(settings, basis);
            case CONCURRENT_NETWORKS -> concurrentNetworks(settings, basis);
            case COVERAGE -> CensusTimeoutDetector.of(settings, basis);
            case COVERAGE_GAP -> new LogGapDetector(basis);
            case PLAN_SLOWER -> new PlanRegressionDetector(
                    basis, settings.number("ratio", PlanRegressionDetector.DEFAULT_RATIO, 1.01, 1_000));
            case LOGIN_FAILURES -> new LoginFailuresDetector(
                    basis, LoginFailuresDetector.Limits.of(settings), ClientNetwork.of(settings, 24, 64));
            case LOGIN_AFTER_GUESSING -> loginAfterGuessing(settings, basis);
            case VOLUME_QUERY_ROWS -> queries(settings, basis, QueryVolumeDetector.Measure.ROWS, 20_000, 50_000);
            case VOLUME_QUERY_STATEMENTS -> queries(
                    settings, basis, QueryVolumeDetector.Measure.STATEMENTS, 5_000, 10_000);
            case VOLUME_RANGES -> parts(settings, basis, RangeVolumeDetector.Measure.RANGES);
            case VOLUME_LOOKUPS -> parts(settings, basis, RangeVolumeDetector.Measure.LOOKUPS);
            case VOLUME_READS -> parts(settings, basis, RangeVolumeDetector.Measure.READS);
            case SIGNED_RANGE -> new SignedRangeDetector(basis);
            case ROWS_AFFECTED -> new AffectedRowsDetector(basis, AffectedRowsDetector.Limits.of(settings));
            case PEER_TABLES -> peerTables(settings, basis);
        };
    }

    /** Drivers of applications send attributes without the name of a program; clients of people send one. */
    private static StatefulDetector firstSeenProgram(DetectorOptions settings, DetectorDefinition basis) {
        Predicate<DetectionEvent> active = DetectorEventFields::isActivity;
        Subject subject = new Subject(
                "user",
                "program",
                active,
                UnaryOperator.identity(),
                value -> false,
                event -> !event.values("connection_attribute._client_name").isEmpty() && active.test(event),
                Optional.empty(),
                0);
        return new FirstSeenDetector(basis, subject, Learning.of(settings, MAX_PER_USER));
    }

    /**
     * Alerts have the level medium if a known account accesses its first data class, many new tables on one day, or a new table
     * at an hour of the day at which it was never active.
     */
    private static StatefulDetector firstSeenTable(DetectorOptions settings, DetectorDefinition basis) {
        Predicate<DetectionEvent> succeeded = event -> !DetectorEventFields.hasFailed(event);
        Subject subject = new Subject(
                "user",
                "table",
                succeeded,
                UnaryOperator.identity(),
                value -> false,
                event -> DetectorEventFields.isStatement(event) && succeeded.test(event),
                Optional.of(Level.MEDIUM),
                settings.whole("many_tables_per_day", 5, 1, 10_000),
                Dumps::tables,
                value -> false,
                value -> false,
                value -> false,
                Raised.AWAY);
        return new FirstSeenDetector(basis, subject, Learning.of(settings, MAX_TABLES));
    }

    private static StatefulDetector firstSeenChange(DetectorOptions settings, DetectorDefinition basis) {
        return firstSeenUse(settings, basis, "change", new ChangedColumns()::of, ChangedColumns::isKind, Raised.FIRST);
    }

    private static StatefulDetector firstSeenRead(DetectorOptions settings, DetectorDefinition basis) {
        return firstSeenUse(settings, basis, "read", new ReadColumns()::of, ReadColumns::isSensitive, Raised.AWAY);
    }

    /** An account that only reads a table changes it, or an account uses columns of a kind that it never used. */
    private static StatefulDetector firstSeenUse(
            DetectorOptions settings,
            DetectorDefinition basis,
            String field,
            Function<DetectionEvent, List<FieldValue>> values,
            Predicate<String> serious,
            Raised raised) {
        Predicate<DetectionEvent> succeeded = event -> !DetectorEventFields.hasFailed(event);
        Subject subject = new Subject(
                "user",
                field,
                succeeded,
                UnaryOperator.identity(),
                ChangedColumns.DEFINITIONS::equals,
                event -> DetectorEventFields.isStatement(event) && succeeded.test(event),
                Optional.empty(),
                0,
                values,
                serious,
                ChangedColumns::isSetting,
                ChangedColumns::isOfOfficeHours,
                raised);
        return new FirstSeenDetector(basis, subject, Learning.of(settings, MAX_TABLES, CHANGES_SETTLE));
    }

    private static StatefulDetector firstSeenDataClass(DetectorOptions settings, DetectorDefinition basis) {
        Predicate<DetectionEvent> wanted = event -> !DetectorEventFields.hasFailed(event);
        return firstSeen(settings, basis, "program", "data_class", wanted, MAX_PER_USER);
    }

    private static StatefulDetector tamperingChain(DetectorOptions settings, DetectorDefinition basis) {
        return new LogTamperingDetector(
                basis,
                settings.timespan("window", ExpiringValueSet.HOUR),
                settings.whole("rows", 10_000, 1, 1_000_000_000));
    }

    private static StatefulDetector loginAfterGuessing(DetectorOptions settings, DetectorDefinition basis) {
        return new LoginAfterGuessingDetector(
                basis,
                settings.whole("min_amount", 10, 1, 1_000_000),
                settings.days("window", 14),
                ClientNetwork.of(settings, 24, 64));
    }

    private static StatefulDetector peerTables(DetectorOptions settings, DetectorDefinition basis) {
        return new PeerTablesDetector(basis, PeerGroups.of(settings), PeerTablesDetector.Limits.of(settings));
    }

    private static StatefulDetector firstSeenStatement(DetectorOptions settings, DetectorDefinition basis) {
        return firstSeen(settings, basis, "user", "query_id", DetectorEventFields::isActivity, MAX_STATEMENTS);
    }

    private static StatefulDetector firstSeen(
            DetectorOptions settings,
            DetectorDefinition basis,
            String entity,
            String field,
            Predicate<DetectionEvent> wanted,
            int maxValues) {
        Subject subject = new Subject(entity, field, wanted, UnaryOperator.identity(), value -> false);
        return new FirstSeenDetector(basis, subject, Learning.of(settings, maxValues));
    }

    private static StatefulDetector volume(
            DetectorOptions settings, DetectorDefinition basis, VolumeDetector.Measure measure, int atLeast) {
        return new VolumeDetector(
                basis, measure, HourlyBaseline.Limits.of(settings, atLeast), settings.days("learning", 14));
    }

    private static StatefulDetector queries(
            DetectorOptions settings,
            DetectorDefinition basis,
            QueryVolumeDetector.Measure measure,
            int perHour,
            int perDay) {
        return new QueryVolumeDetector(basis, measure, QueryVolumeDetector.Limits.of(settings, perHour, perDay));
    }

    private static StatefulDetector parts(
            DetectorOptions settings, DetectorDefinition basis, RangeVolumeDetector.Measure measure) {
        return new RangeVolumeDetector(basis, measure, RangeVolumeDetector.Limits.of(settings, measure));
    }

    private static StatefulDetector impossiblePlaces(DetectorOptions settings, DetectorDefinition basis) {
        double speed = settings.number("kilometres_per_hour", 900, 1, 100_000);
        double distance = settings.number("kilometres", 500, 1, 20_000);
        long learning = settings.days("learning", 14);
        String file = settings.text("geoip_file");
        if (!settings.enabled()) {
            return new ImpossibleTravelDetector(
                    basis, ip -> Optional.empty(), ImpossibleTravelDetector.fasterThan(speed, distance), learning);
        }
        GeoIpDatabase places = places(settings, file);
        return new ImpossibleTravelDetector(
                basis, places::of, ImpossibleTravelDetector.fasterThan(speed, distance), learning);
    }

    private static GeoIpDatabase places(DetectorOptions settings, String file) {
        if (file.isEmpty()) {
            throw settings.refusal(
                    settings.detector() + " needs a geoip_file: the path of a file in MaxMind's DB format");
        }
        try {
            return GeoIpDatabase.of(new File(file));
        } catch (IOException e) {
            throw settings.refusal(
                    "geoip_file", "a file in MaxMind's DB format is expected (" + e.getMessage() + ")", file);
        }
    }

    private static StatefulDetector concurrentNetworks(DetectorOptions settings, DetectorDefinition basis) {
        ClientNetwork network = ClientNetwork.of(settings, 16, 48);
        long within = settings.timespan("within", 5 * ExpiringValueSet.HOUR / 60);
        return new ImpossibleTravelDetector(
                basis,
                ip -> Optional.of(GeoLocation.network(network.of(ip))),
                ImpossibleTravelDetector.within(within),
                settings.days("learning", 14));
    }

    private static StatefulDetector firstSeenHost(DetectorOptions settings, DetectorDefinition basis) {
        ClientNetwork network = ClientNetwork.of(settings, 24, 64);
        Subject subject = new Subject(
                "user",
                "host",
                DetectorEventFields::isActivity,
                new RecentShapes(network::ofClient),
                ClientNetwork.LOCAL::equals);
        return new FirstSeenDetector(basis, subject, Learning.of(settings, MAX_PER_USER));
    }
}

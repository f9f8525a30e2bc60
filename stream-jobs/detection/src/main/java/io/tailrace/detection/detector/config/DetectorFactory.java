package io.tailrace.detection.detector.config;

import io.tailrace.detection.detector.DetectorBasis;
import io.tailrace.detection.detector.DetectorKind;
import io.tailrace.detection.detector.DetectorSettings;
import io.tailrace.detection.detector.EventParts;
import io.tailrace.detection.detector.StatefulDetector;
import io.tailrace.detection.detector.activity.Dormant;
import io.tailrace.detection.detector.activity.OffHours;
import io.tailrace.detection.detector.firstseen.FirstSeen;
import io.tailrace.detection.detector.firstseen.FirstSeen.Learning;
import io.tailrace.detection.detector.firstseen.FirstSeen.Subject;
import io.tailrace.detection.detector.firstseen.KnownValues;
import io.tailrace.detection.detector.location.ClientNetwork;
import io.tailrace.detection.detector.location.DistantPlaces;
import io.tailrace.detection.detector.location.GeoPlaces;
import io.tailrace.detection.detector.location.Place;
import io.tailrace.detection.detector.pipeline.Coverage;
import io.tailrace.detection.detector.pipeline.CoverageGap;
import io.tailrace.detection.detector.pipeline.SlowerPlan;
import io.tailrace.detection.detector.sequence.PrivilegeChain;
import io.tailrace.detection.detector.sequence.TamperingChain;
import io.tailrace.detection.detector.volume.Baseline;
import io.tailrace.detection.detector.volume.Volume;
import io.tailrace.detection.event.DetectionEvent;
import java.io.File;
import java.io.IOException;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/** Makes detectors of what the file says; here are all defaults that are not of one detector alone. */
final class DetectorFactory {

    private static final int MOST_PER_USER = 256;
    private static final int MOST_TABLES = 2_000;
    private static final int MOST_USERS = 4_000;

    private DetectorFactory() {}

    static StatefulDetector detector(DetectorKind kind, DetectorSettings settings) {
        DetectorBasis basis = DetectorBasis.of(settings);
        return switch (kind) {
            case FIRST_SEEN_USER -> firstSeen(settings, basis, "", "user", EventParts::isActivity, MOST_USERS);
            case FIRST_SEEN_HOST -> firstSeenHost(settings, basis);
            case FIRST_SEEN_PROGRAM -> firstSeen(
                    settings, basis, "user", "program", EventParts::isActivity, MOST_PER_USER);
            case FIRST_SEEN_TABLE -> firstSeen(
                    settings, basis, "user", "table", event -> !EventParts.hasFailed(event), MOST_TABLES);
            case FIRST_SEEN_DATA_CLASS -> firstSeen(
                    settings, basis, "program", "data_class", event -> !EventParts.hasFailed(event), MOST_PER_USER);
            case DORMANT_ACCOUNT -> new Dormant(basis, settings.days("dormant", 45));
            case OFF_HOURS -> new OffHours(basis, OffHours.Rhythm.of(settings));
            case VOLUME_ROWS -> volume(settings, basis, Volume.Measure.ROWS, 20_000);
            case VOLUME_STATEMENTS -> volume(settings, basis, Volume.Measure.STATEMENTS, 5_000);
            case VOLUME_TABLES -> volume(settings, basis, Volume.Measure.TABLES, 20);
            case PRIVILEGE_CHAIN -> new PrivilegeChain(basis, settings.days("window", 1), settings.days("learning", 7));
            case TAMPERING_CHAIN -> new TamperingChain(
                    basis,
                    settings.timespan("window", KnownValues.HOUR),
                    settings.whole("rows", 10_000, 1, 1_000_000_000));
            case IMPOSSIBLE_PLACES -> impossiblePlaces(settings, basis);
            case CONCURRENT_NETWORKS -> concurrentNetworks(settings, basis);
            case COVERAGE -> Coverage.of(settings, basis);
            case COVERAGE_GAP -> new CoverageGap(basis);
            case PLAN_SLOWER -> new SlowerPlan(basis, settings.number("ratio", SlowerPlan.USUAL_RATIO, 1.01, 1_000));
        };
    }

    private static StatefulDetector firstSeen(
            DetectorSettings settings,
            DetectorBasis basis,
            String entity,
            String field,
            Predicate<DetectionEvent> wanted,
            int mostValues) {
        Subject subject = new Subject(entity, field, wanted, UnaryOperator.identity(), value -> false);
        return new FirstSeen(basis, subject, Learning.of(settings, mostValues));
    }

    private static StatefulDetector volume(
            DetectorSettings settings, DetectorBasis basis, Volume.Measure measure, int atLeast) {
        return new Volume(basis, measure, Baseline.Limits.of(settings, atLeast), settings.days("learning", 14));
    }

    private static StatefulDetector impossiblePlaces(DetectorSettings settings, DetectorBasis basis) {
        double speed = settings.number("kilometres_per_hour", 900, 1, 100_000);
        double distance = settings.number("kilometres", 500, 1, 20_000);
        long learning = settings.days("learning", 14);
        String file = settings.text("geoip_file");
        if (!settings.enabled()) {
            return new DistantPlaces(
                    basis, ip -> Optional.empty(), DistantPlaces.fasterThan(speed, distance), learning);
        }
        GeoPlaces places = places(settings, file);
        return new DistantPlaces(basis, places::of, DistantPlaces.fasterThan(speed, distance), learning);
    }

    private static GeoPlaces places(DetectorSettings settings, String file) {
        if (file.isEmpty()) {
            throw settings.refusal("impossible_places needs a geoip_file: the path of a file in MaxMind's DB format");
        }
        try {
            return GeoPlaces.of(new File(file));
        } catch (IOException e) {
            throw settings.refusal(
                    "geoip_file", "a file in MaxMind's DB format is expected (" + e.getMessage() + ")", file);
        }
    }

    private static StatefulDetector concurrentNetworks(DetectorSettings settings, DetectorBasis basis) {
        ClientNetwork network = ClientNetwork.of(settings, 16, 48);
        long within = settings.timespan("within", 5 * KnownValues.HOUR / 60);
        return new DistantPlaces(
                basis,
                ip -> Optional.of(Place.network(network.of(ip))),
                DistantPlaces.within(within),
                settings.days("learning", 14));
    }

    private static StatefulDetector firstSeenHost(DetectorSettings settings, DetectorBasis basis) {
        ClientNetwork network = ClientNetwork.of(settings, 24, 64);
        Subject subject =
                new Subject("user", "host", EventParts::isActivity, network::ofClient, ClientNetwork.LOCAL::equals);
        return new FirstSeen(basis, subject, Learning.of(settings, MOST_PER_USER));
    }
}

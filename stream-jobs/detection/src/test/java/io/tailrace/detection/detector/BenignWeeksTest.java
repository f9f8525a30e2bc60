package io.tailrace.detection.detector;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.detector.firstseen.ExpiringValueSet;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Verifies that the detectors of the pack raise few alerts in ten weeks of benign activity on a cluster: applications
 * with days and weekends, people with mostly regular hours, nightly jobs, a weekly report, new releases with new
 * tables, clients that move.
 */
@Tag("slow")
class BenignWeeksTest {

    private static final int WEEKS = 10;
    private static final int LEARNED_DAY = 28;
    private static final int APPLICATIONS = 8;
    private static final int PEOPLE = 25;
    private static final long MINUTE = 60_000_000L;

    private final Random random = new Random(7);
    private final List<DetectionEvent> hour = new ArrayList<>();
    private final List<RaisedAlert> alerts = new ArrayList<>();
    private int events;

    @Test
    void aBenignWorkloadGivesFewAlerts() throws IOException {
        String yaml = Files.readString(Path.of("../../rules/detectors.yaml"));
        long end = DetectorRun.micros(DetectorRun.NOW);
        InMemoryDetectorEngine engine =
                new InMemoryDetectorEngine(DetectorRun.file(yaml).detectors(), 0, () -> end);
        for (int day = 0; day < 7 * WEEKS; day++) {
            for (int hourOfDay = 0; hourOfDay < 24; hourOfDay++) {
                hour(day, hourOfDay);
                hour.forEach(event -> engine.detect(event, alerts::add));
                hour.clear();
            }
        }
        long learned = DetectorRun.micros(DetectorRun.START) + LEARNED_DAY * 24 * ExpiringValueSet.HOUR;
        List<RaisedAlert> later =
                alerts.stream().filter(alert -> alert.micros() >= learned).toList();
        double perDay = later.size() / (7.0 * WEEKS - LEARNED_DAY);
        String byDetector = later.stream()
                .collect(Collectors.groupingBy(alert -> alert.rule().name(), Collectors.counting()))
                .toString();
        System.out.printf("%,d events, %.2f alerts a day: %s%n", events, perDay, byDetector);
        assertThat(events).isGreaterThan(200_000);
        assertThat(perDay).as(byDetector).isLessThan(3);
    }

    private void hour(int day, int hourOfDay) {
        boolean weekend = day % 7 >= 5;
        for (int application = 0; application < APPLICATIONS; application++) {
            application(day, hourOfDay, application, weekend);
        }
        for (int person = 0; person < PEOPLE; person++) {
            boolean atWork = !weekend && hourOfDay >= 8 + person % 3 && hourOfDay < 16 + person % 3;
            if (atWork ? random.nextInt(4) > 0 : random.nextInt(4_000) == 0) {
                person(day, hourOfDay, person);
            }
        }
        if (hourOfDay == 2) {
            event(day, hourOfDay, "etl", "10.2.0.9", "shop.t" + random.nextInt(40), 400_000 + random.nextInt(200_000));
        }
        if (day % 7 == 0 && hourOfDay == 6) {
            event(day, hourOfDay, "report", "10.2.0.8", "shop.orders", 900_000 + random.nextInt(100_000));
        }
    }

    /**
     * Generates a high load by day and a low one at night. A release every three weeks adds a table; pods move within
     * their network.
     */
    private void application(int day, int hourOfDay, int application, boolean weekend) {
        double load = (1.2 - Math.cos(2 * Math.PI * (hourOfDay - 3) / 24)) * (weekend ? 0.4 : 1);
        int statements = (int) Math.round(8 * load * Math.exp(random.nextGaussian() * 0.3));
        int tables = 10 + day / 21;
        for (int i = 0; i < statements; i++) {
            int rows = (int) (200 * Math.exp(random.nextGaussian()));
            String ip = "10." + application + "." + random.nextInt(3) + "." + random.nextInt(250);
            event(day, hourOfDay, "app" + application, ip, "shop.t" + random.nextInt(tables), rows);
        }
    }

    private void person(int day, int hourOfDay, int person) {
        String network = random.nextInt(500) == 0 ? "10.40." + random.nextInt(200) : "10.30." + person;
        for (int i = 0; i < 3; i++) {
            int rows = (int) (100 * Math.exp(random.nextGaussian() * 1.5));
            event(
                    day,
                    hourOfDay,
                    "person" + person,
                    network + ".5",
                    "shop.t" + (int) Math.abs(random.nextGaussian() * 5),
                    rows);
        }
    }

    private void event(int day, int hourOfDay, String user, String ip, String table, int rows) {
        long micros = DetectorRun.micros(DetectorRun.START)
                + (day * 24L + hourOfDay) * ExpiringValueSet.HOUR
                + random.nextInt(60) * MINUTE;
        for (String service : List.of("slowlog", "audit")) {
            hour.add(DetectionEvent.builder("e" + events++, micros, new LogSource("database", "mysql", service))
                    .text("cluster", "shop")
                    .text("instance", "db1")
                    .text("event_class", "query")
                    .text("outcome", "success")
                    .text("user", user)
                    .text("host", ip)
                    .text("src_ip", ip)
                    .texts("table", List.of(table))
                    .text("statement", "select name from " + table + " where id = ?")
                    .text("query_id", "id of " + table)
                    .number("rows_sent", "slowlog".equals(service) ? rows : 0)
                    .build());
        }
    }
}

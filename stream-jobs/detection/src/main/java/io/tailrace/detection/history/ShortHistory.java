package io.tailrace.detection.history;

import io.tailrace.detection.event.DatabaseField;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import io.tailrace.detection.match.CidrMatcher;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Decides for which events a short history is a reason to expect a first occurrence: those that may be the first run of
 * a scheduled job. An attacker may arrive in these days, too.
 */
public final class ShortHistory {

    /** Accounts of administrators, whom an attacker impersonates first, and accounts without a name. */
    private static final Pattern ADMINISTRATOR =
            Pattern.compile("|root|admin|administrator|dba|sa|mysql|mariadb|superuser|super", Pattern.CASE_INSENSITIVE);

    /** Programs with which people work. */
    private static final Pattern OF_PEOPLE = Pattern.compile(
            ".*(dbeaver|heidisql|workbench|navicat|datagrip|phpmyadmin|adminer|sqlmap|mysqlsh|sequel).*",
            Pattern.CASE_INSENSITIVE);

    private static final List<CidrMatcher> PRIVATE = Stream.of(
                    "10.0.0.0/8",
                    "172.16.0.0/12",
                    "192.168.0.0/16",
                    "127.0.0.0/8",
                    "169.254.0.0/16",
                    "100.64.0.0/10",
                    "::1/128",
                    "fc00::/7",
                    "fe80::/10")
            .map(network -> CidrMatcher.of(network).orElseThrow())
            .toList();

    private ShortHistory() {}

    /**
     * Returns the days of history by which an event is judged; {@link InstanceHistory#LONG} if a short history is no
     * reason to expect it: it changes classified data, its client is outside of private networks or a program of people, or
     * its account has a usual name of an administrator.
     */
    public static int days(DetectionEvent event) {
        boolean isSuspicious = event.history() == InstanceHistory.LONG
                || !event.values(DatabaseField.DATA_CLASS_WRITTEN.fieldName()).isEmpty()
                || event.values(DatabaseField.SRC_IP.fieldName()).stream().anyMatch(ShortHistory::isPublic)
                || has(event, DatabaseField.PROGRAM, OF_PEOPLE)
                || has(event, DatabaseField.USER, ADMINISTRATOR)
                || event.values(DatabaseField.USER.fieldName()).isEmpty();
        return isSuspicious ? InstanceHistory.LONG : event.history();
    }

    private static boolean isPublic(FieldValue address) {
        return PRIVATE.stream().noneMatch(network -> network.test(address));
    }

    private static boolean has(DetectionEvent event, DatabaseField field, Pattern pattern) {
        return event.values(field.fieldName()).stream()
                .anyMatch(value -> pattern.matcher(value.text()).matches());
    }
}

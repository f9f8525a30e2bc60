package io.tailrace.detection.detector.login;

import io.tailrace.detection.detector.DetectorEventFields;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.taxonomy.RefusalCode;

/** The result of the login that an event records, as the rules refused_login and login define it. */
enum LoginResult {
    REFUSED,
    SUCCEEDED,
    NONE;

    static LoginResult of(DetectionEvent event) {
        if (event.values("login").isEmpty()) {
            return NONE;
        }
        return switch (DetectorEventFields.text(event, "login")) {
            case "failure" -> isRefusal(event) ? REFUSED : NONE;
            case "success" -> SUCCEEDED;
            default -> NONE;
        };
    }

    private static boolean isRefusal(DetectionEvent event) {
        return RefusalCode.isOfLogin(DetectorEventFields.text(event, "error_code"))
                || "access_denied".equals(DetectorEventFields.text(event, "kind"));
    }

    /** Returns the address or name of the client; empty if it is unknown. */
    static String client(DetectionEvent event) {
        String host = DetectorEventFields.text(event, "host");
        return host.isEmpty() ? DetectorEventFields.text(event, "src_ip") : host;
    }
}

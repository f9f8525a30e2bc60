package io.tailrace.flink.detection.correlation;

import io.tailrace.detect.Evidence;
import org.apache.flink.api.common.typeinfo.TypeInformation;

/** How records travel between this job's operators. */
public final class EvidenceTypes {

    public static final TypeInformation<Evidence> EVIDENCE = TypeInformation.of(Evidence.class);

    private EvidenceTypes() {}
}

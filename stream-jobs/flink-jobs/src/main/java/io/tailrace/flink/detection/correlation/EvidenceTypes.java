package io.tailrace.flink.detection.correlation;

import io.tailrace.detect.Evidence;
import org.apache.flink.api.common.typeinfo.TypeInformation;

/** The type information of the records between the operators of this job. */
public final class EvidenceTypes {

    public static final TypeInformation<Evidence> EVIDENCE = TypeInformation.of(Evidence.class);

    private EvidenceTypes() {}
}

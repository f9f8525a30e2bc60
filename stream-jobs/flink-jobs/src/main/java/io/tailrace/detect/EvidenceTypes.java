package io.tailrace.detect;

import org.apache.flink.api.common.typeinfo.TypeInformation;

/** How records travel between this job's operators. */
final class EvidenceTypes {

    static final TypeInformation<Evidence> EVIDENCE = TypeInformation.of(Evidence.class);

    private EvidenceTypes() {}
}

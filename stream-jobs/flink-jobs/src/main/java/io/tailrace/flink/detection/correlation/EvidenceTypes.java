package io.tailrace.flink.detection.correlation;

import io.tailrace.detect.Evidence;
import org.apache.flink.api.common.typeinfo.TypeInformation;

/** The type information of evidence. */
public final class EvidenceTypes {

    /** Between operators. */
    public static final TypeInformation<Evidence> EVIDENCE = new EvidenceTypeInfo();

    /** In state; its layout is in checkpoints. */
    static final TypeInformation<Evidence> STORED = TypeInformation.of(Evidence.class);

    private EvidenceTypes() {}
}

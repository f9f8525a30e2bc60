package io.tailrace.flink.detection.correlation;

import io.tailrace.detect.Evidence;
import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/** The type of evidence between operators. */
final class EvidenceTypeInfo extends TypeInformation<Evidence> {

    private static final long serialVersionUID = 1;

    @Override
    public boolean isBasicType() {
        return false;
    }

    @Override
    public boolean isTupleType() {
        return false;
    }

    @Override
    public int getArity() {
        return 1;
    }

    @Override
    public int getTotalFields() {
        return 1;
    }

    @Override
    public Class<Evidence> getTypeClass() {
        return Evidence.class;
    }

    @Override
    public boolean isKeyType() {
        return false;
    }

    @Override
    public TypeSerializer<Evidence> createSerializer(SerializerConfig config) {
        return EvidenceSerializer.INSTANCE;
    }

    @Override
    public String toString() {
        return "Evidence";
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof EvidenceTypeInfo;
    }

    @Override
    public int hashCode() {
        return EvidenceTypeInfo.class.hashCode();
    }

    @Override
    public boolean canEqual(Object other) {
        return other instanceof EvidenceTypeInfo;
    }
}

package io.tailrace;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

@AnalyzeClasses(packages = "io.tailrace", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    private static final String[] CORE = {
        "io.tailrace.framing..",
        "io.tailrace.formats..",
        "io.tailrace.slowlog..",
        "io.tailrace.audit..",
        "io.tailrace.lexer..",
        "io.tailrace.fingerprint..",
        "io.tailrace.identity..",
        "io.tailrace.reassembly..",
        "io.tailrace.event.."
    };

    @ArchTest
    static final ArchRule THE_CORE_KNOWS_NEITHER_FLINK_NOR_KAFKA = noClasses()
            .that()
            .resideInAnyPackage(CORE)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("org.apache.flink..", "org.apache.kafka..");

    @ArchTest
    static final ArchRule NOTHING_IMPORTS_A_JOB = noClasses()
            .that()
            .resideOutsideOfPackages("io.tailrace.flink.normalize..", "io.tailrace.flink.detection")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.tailrace.flink.normalize..", "io.tailrace.flink.detection");

    @ArchTest
    static final ArchRule STAGES_DO_NOT_KNOW_EACH_OTHER = noClasses()
            .that()
            .resideInAnyPackage(
                    "io.tailrace.flink.ingest..", "io.tailrace.flink.framing..", "io.tailrace.flink.parsing..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.tailrace.flink.clickhouse..", "io.tailrace.flink.kafka..");
}

package io.tailrace;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.tailrace.detection.sigma.search.SearchCompiler;
import java.util.Set;
import java.util.TreeSet;

/** Verifies the dependencies between the packages of all modules of the jobs. */
@AnalyzeClasses(packages = "io.tailrace", importOptions = ArchitectureTest.WithoutTests.class)
class ArchitectureTest {

    private static final String NORMALIZE_JOB = "io.tailrace.flink.normalize";
    private static final String DETECTION_JOB = "io.tailrace.flink.detection";
    private static final String DETECTION_STATE = "io.tailrace.detect";
    private static final String SIGMA = "io.tailrace.detection.sigma";
    private static final String COMMITTER_STATE = "io.tailrace.clickhouse";

    /** ArchUnit's option knows only Maven's default directory; the profile {@code lint} uses another one. */
    static final class WithoutTests implements ImportOption {

        @Override
        public boolean includes(Location location) {
            return !location.contains("/test-classes/");
        }
    }

    /**
     * Classes whose names are part of checkpoints: without one of them, a job cannot restore the state of an older
     * version.
     */
    private static final Set<String> STATE_CLASSES = Set.of(
            "io.tailrace.clickhouse.PendingBlock",
            "io.tailrace.detect.AlertGroup",
            "io.tailrace.detect.ByteRangesSerializer",
            "io.tailrace.detect.ByteRangesSerializer$Snapshot",
            "io.tailrace.detect.Evidence",
            "io.tailrace.detect.GroupWindowSerializer",
            "io.tailrace.detect.GroupWindowSerializer$Snapshot",
            "io.tailrace.detect.HeardState",
            "io.tailrace.detect.InstanceCoverageSerializer",
            "io.tailrace.detect.InstanceCoverageSerializer$Snapshot",
            "io.tailrace.detect.PlanHistorySerializer",
            "io.tailrace.detect.PlanHistorySerializer$Snapshot",
            "io.tailrace.detect.PlanSighting",
            "io.tailrace.detect.PlanSighting$Statement",
            "io.tailrace.detect.RuleRecord",
            "io.tailrace.detect.SessionActionsSerializer",
            "io.tailrace.detect.SessionActionsSerializer$Snapshot");

    @ArchTest
    static final ArchRule PACKAGES_FORM_NO_CYCLES =
            slices().matching("io.tailrace.(**)").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule ONLY_THE_JOBS_DEPEND_ON_FLINK_AND_KAFKA = noClasses()
            .that()
            .resideOutsideOfPackages("io.tailrace.flink..", DETECTION_STATE, COMMITTER_STATE)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "org.apache.flink..",
                    "org.apache.kafka..",
                    "io.tailrace.flink..",
                    DETECTION_STATE,
                    COMMITTER_STATE);

    @ArchTest
    static final ArchRule THE_CORE_DEPENDS_ON_NO_OTHER_MODULE = noClasses()
            .that()
            .resideOutsideOfPackages(
                    "io.tailrace.flink..",
                    DETECTION_STATE,
                    COMMITTER_STATE,
                    "io.tailrace.detection..",
                    "io.tailrace.plan..",
                    "io.tailrace.spans..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.tailrace.detection..", "io.tailrace.plan..", "io.tailrace.spans..");

    @ArchTest
    static final ArchRule ONLY_THE_REASSEMBLY_DEPENDS_ON_ITS_PARTS = noClasses()
            .that()
            .resideOutsideOfPackage("io.tailrace.reassembly..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "io.tailrace.reassembly.census..",
                    "io.tailrace.reassembly.content..",
                    "io.tailrace.reassembly.generation..",
                    "io.tailrace.reassembly.ledger..",
                    "io.tailrace.reassembly.signing..");

    /** Others see the fingerprint's result; parsers of logs also ask which texts may contain credentials. */
    @ArchTest
    static final ArchRule ONLY_THE_FINGERPRINT_DEPENDS_ON_ITS_PARTS = noClasses()
            .that()
            .resideOutsideOfPackage("io.tailrace.fingerprint..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "io.tailrace.fingerprint.account..",
                    "io.tailrace.fingerprint.comment..",
                    "io.tailrace.fingerprint.flag..",
                    "io.tailrace.fingerprint.mask..",
                    "io.tailrace.fingerprint.token..");

    @ArchTest
    static final ArchRule THE_PARTS_OF_SIGMA_DEPEND_IN_ONE_DIRECTION = layeredArchitecture()
            .consideringOnlyDependenciesInAnyPackage(SIGMA + "..")
            .layer("yaml")
            .definedBy(SIGMA + ".yaml..")
            .layer("rule")
            .definedBy(SIGMA + ".rule..")
            .layer("search")
            .definedBy(SIGMA + ".search..")
            .layer("reader")
            .definedBy(SIGMA + ".reader..")
            .whereLayer("yaml")
            .mayNotAccessAnyLayer()
            .whereLayer("rule")
            .mayOnlyAccessLayers("yaml")
            .whereLayer("search")
            .mayOnlyAccessLayers("rule", "yaml");

    @ArchTest
    static final ArchRule SIGMA_DEPENDS_ONLY_ON_EVENTS_AND_MATCHERS = classes()
            .that()
            .resideInAPackage(SIGMA + "..")
            .should()
            .onlyDependOnClassesThat(JavaClass.Predicates.resideOutsideOfPackage("io.tailrace..")
                    .or(JavaClass.Predicates.resideInAnyPackage(
                            SIGMA + "..", "io.tailrace.detection.event..", "io.tailrace.detection.match..")));

    @ArchTest
    static final ArchRule ONLY_SIGMA_DEPENDS_ON_ITS_SEARCHES = noClasses()
            .that()
            .resideOutsideOfPackage(SIGMA + "..")
            .should()
            .dependOnClassesThat(JavaClass.Predicates.resideInAPackage(SIGMA + ".search..")
                    .and(not(JavaClass.Predicates.type(SearchCompiler.class))));

    @ArchTest
    static final ArchRule NOTHING_DEPENDS_ON_A_JOB = noClasses()
            .that()
            .resideOutsideOfPackages(NORMALIZE_JOB, DETECTION_JOB)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(NORMALIZE_JOB, DETECTION_JOB);

    @ArchTest
    static final ArchRule STAGES_DO_NOT_DEPEND_ON_SINKS = noClasses()
            .that()
            .resideInAnyPackage(
                    "io.tailrace.flink.ingest..",
                    "io.tailrace.flink.framing..",
                    "io.tailrace.flink.parsing..",
                    "io.tailrace.flink.spans..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.tailrace.flink.clickhouse..", "io.tailrace.flink.kafka..");

    @ArchTest
    static final ArchRule STATE_DEPENDS_ON_NO_OPERATOR = noClasses()
            .that()
            .resideInAnyPackage(DETECTION_STATE, COMMITTER_STATE)
            .should()
            .dependOnClassesThat(JavaClass.Predicates.resideInAPackage("io.tailrace.flink..")
                    .and(JavaClass.Predicates.resideOutsideOfPackage("io.tailrace.flink.detection.state")));

    @ArchTest
    static final ArchRule THE_RUNTIME_DEPENDS_ON_NO_STAGE = classes()
            .that()
            .resideInAPackage("io.tailrace.flink.runtime..")
            .should()
            .onlyDependOnClassesThat(JavaClass.Predicates.resideOutsideOfPackage("io.tailrace..")
                    .or(JavaClass.Predicates.resideInAPackage("io.tailrace.flink.runtime..")));

    @ArchTest
    static void stateClassesKeepTheirNames(JavaClasses all) {
        Set<String> found = new TreeSet<>();
        for (JavaClass each : all) {
            String name = each.getPackageName();
            if ((name.equals(DETECTION_STATE) || name.equals(COMMITTER_STATE))
                    && !each.getSimpleName().equals("package-info")
                    && !each.isAnonymousClass()) {
                found.add(each.getName());
            }
        }
        assertThat(found).containsExactlyInAnyOrderElementsOf(STATE_CLASSES);
    }
}

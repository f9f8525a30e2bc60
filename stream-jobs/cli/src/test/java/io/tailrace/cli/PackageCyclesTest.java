package io.tailrace.cli;

import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** Verifies that the packages of the command line form no cycles; ArchitectureTest of flink-jobs does not see them. */
@AnalyzeClasses(packages = "io.tailrace.cli", importOptions = PackageCyclesTest.WithoutTests.class)
class PackageCyclesTest {

    /** ArchUnit's option knows only Maven's default directory; the profile {@code lint} uses another one. */
    static final class WithoutTests implements ImportOption {

        @Override
        public boolean includes(Location location) {
            return !location.contains("/test-classes/");
        }
    }

    @ArchTest
    static final ArchRule PACKAGES_FORM_NO_CYCLES =
            slices().matching("io.tailrace.(**)").should().beFreeOfCycles();
}

package dev.ringfetch.rdma;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The layers of the RDMA fabric, what each may use, and what none may. */
@AnalyzeClasses(
    packages = "dev.ringfetch.rdma",
    importOptions = ImportOption.DoNotIncludeTests.class)
final class LayeringTest {
  private static final String NATIVES = "dev.ringfetch.rdma.natives";
  private static final String VERBS = "dev.ringfetch.rdma.verbs";
  private static final String FABRIC = "dev.ringfetch.fabric";
  private static final String TIMER = "dev.ringfetch.timer";

  @ArchTest static final ArchRule nativesUseNoneOfOurs = usesOnly(NATIVES);

  @ArchTest static final ArchRule verbsUseTheFabric = usesOnly(VERBS, NATIVES, FABRIC, TIMER);

  @ArchTest
  static final ArchRule packagesHaveNoCycles =
      slices().matching("dev.ringfetch.rdma.(**)").should().beFreeOfCycles();

  @ArchTest
  static final ArchRule noClassSleeps =
      noClasses()
          .should()
          .callMethod(Thread.class, "sleep", long.class)
          .because("a wait polls a descriptor, or goes through a park that can be woken");

  @ArchTest
  static final ArchRule noClassReadsTheWallClock =
      noClasses()
          .should()
          .callMethod(System.class, "currentTimeMillis")
          .because("it jumps: deadlines and pauses are measured with System.nanoTime");

  @ArchTest
  static final ArchRule theFabricKnowsNoGrpc =
      noClasses().should().dependOnClassesThat().resideInAPackage("io.grpc..");

  /** Rule that a package uses no classes of ours but its own and those of packages below. */
  private static ArchRule usesOnly(String user, String... below) {
    return noClasses()
        .that()
        .resideInAPackage(user)
        .should()
        .dependOnClassesThat(
            resideInAPackage("dev.ringfetch..")
                .and(not(resideInAPackage(user)))
                .and(not(resideInAnyPackage(below))));
  }
}

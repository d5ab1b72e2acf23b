package dev.ringfetch.rules;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import dev.ringfetch.session.owner.OwnedBy;
import java.lang.invoke.VarHandle;
import java.time.Clock;
import java.util.Calendar;
import java.util.Date;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** The layers of the main code, what each may use, and what none may. */
@AnalyzeClasses(
    packages = "dev.ringfetch",
    importOptions = {ImportOption.DoNotIncludeTests.class, LayeringTest.NoGeneratedCode.class})
final class LayeringTest {
  private static final String RPC = "dev.ringfetch.rpc";
  private static final String CALL = "dev.ringfetch.call";
  private static final String SESSION = "dev.ringfetch.session";
  private static final String OWNER = "dev.ringfetch.session.owner";
  private static final String POLLER = "dev.ringfetch.session.poller";
  private static final String BULK = "dev.ringfetch.session.bulk";
  private static final String UNIT = "dev.ringfetch.session.unit";
  private static final String CARRIER = "dev.ringfetch.session.carrier";
  private static final String REMOTE = "dev.ringfetch.session.remote";
  private static final String HANDSHAKE = "dev.ringfetch.session.handshake";
  private static final String RING = "dev.ringfetch.ring";
  private static final String FABRIC = "dev.ringfetch.fabric";
  private static final String SHM = "dev.ringfetch.fabric.shm";
  private static final String TIMER = "dev.ringfetch.timer";
  private static final String COUNTERS = "dev.ringfetch.counters";
  private static final String FLIGHT = "dev.ringfetch.flight";
  private static final String MICROMETER = "dev.ringfetch.micrometer";
  private static final String OPENTELEMETRY = "dev.ringfetch.opentelemetry";

  /** The messages of the handshake. */
  private static final String PROTOCOL = "dev.ringfetch.protocol";

  /** Agrona's clocks that read the time of day. */
  private static final Set<String> CLOCKS_OF_THE_DAY =
      Set.of(
          "org.agrona.concurrent.SystemEpochClock",
          "org.agrona.concurrent.SystemEpochNanoClock",
          "org.agrona.concurrent.SystemEpochMicroClock",
          "org.agrona.concurrent.OffsetEpochNanoClock",
          "org.agrona.concurrent.HighResolutionClock");

  /** Leaves out what protoc writes: it comes to this module's class path from others. */
  static final class NoGeneratedCode implements ImportOption {
    @Override
    public boolean includes(Location location) {
      return !location.contains("/dev/ringfetch/v1/")
          && !location.contains("/dev/ringfetch/index/");
    }
  }

  // Each package names all of ours that it may use. What is not named, a new package included, it
  // may not.

  @ArchTest
  static final ArchRule rpcUsesWhatIsBelow =
      usesOnly(
          RPC, CALL, HANDSHAKE, SESSION, REMOTE, BULK, POLLER, OWNER, RING, FABRIC, COUNTERS,
          FLIGHT, PROTOCOL, TIMER);

  @ArchTest
  static final ArchRule callUsesWhatIsBelow =
      usesOnly(CALL, SESSION, BULK, UNIT, POLLER, OWNER, RING, FABRIC, TIMER);

  @ArchTest
  static final ArchRule handshakeOpensSessions =
      usesOnly(
          HANDSHAKE, SESSION, REMOTE, CARRIER, POLLER, RING, FABRIC, COUNTERS, PROTOCOL, TIMER);

  @ArchTest
  static final ArchRule sessionUsesWhatIsBelow =
      usesOnly(SESSION, REMOTE, CARRIER, UNIT, BULK, POLLER, OWNER, RING, FABRIC, COUNTERS);

  @ArchTest
  static final ArchRule remoteUsesCarrierAndPoller =
      usesOnly(REMOTE, CARRIER, POLLER, OWNER, RING, FABRIC, COUNTERS);

  @ArchTest
  static final ArchRule carrierUsesThePoller =
      usesOnly(CARRIER, POLLER, OWNER, RING, FABRIC, COUNTERS);

  @ArchTest
  static final ArchRule unitUsesBulk = usesOnly(UNIT, BULK, OWNER, RING, FABRIC, COUNTERS);

  @ArchTest static final ArchRule bulkUsesTheFabric = usesOnly(BULK, OWNER, FABRIC, COUNTERS);

  @ArchTest
  static final ArchRule pollerUsesTheFabric =
      usesOnly(POLLER, OWNER, FABRIC, COUNTERS, FLIGHT, TIMER);

  @ArchTest static final ArchRule theOwnersMarkUsesNoneOfOurs = usesOnly(OWNER);

  @ArchTest
  static final ArchRule whatOneThreadOwnsIsNotShared =
      fields()
          .that()
          .areAnnotatedWith(OwnedBy.class)
          .should()
          .notHaveModifier(JavaModifier.VOLATILE)
          .because("its owner alone uses it: a token's hand-over orders the accesses");

  @ArchTest static final ArchRule messagesUseNoneOfOurs = usesOnly(PROTOCOL);

  @ArchTest
  static final ArchRule nobodyUsesGeneratedCode =
      noClasses()
          .should()
          .dependOnClassesThat(
              resideInAPackage("dev.ringfetch.v1..")
                  .or(resideInAPackage("com.google.protobuf..").and(not(isRuntimeOfAnyVersion()))))
          .because("it needs the protobuf of its generator, and applications have older ones");

  @ArchTest static final ArchRule ringUsesWhatIsBelow = usesOnly(RING, FABRIC);

  @ArchTest static final ArchRule fabricUsesNoneOfOurs = usesOnly(FABRIC);

  @ArchTest static final ArchRule sharedMemoryUsesTheFabric = usesOnly(SHM, FABRIC, COUNTERS);

  @ArchTest static final ArchRule theTimerUsesNoneOfOurs = usesOnly(TIMER);

  @ArchTest static final ArchRule countersUseNoneOfOurs = usesOnly(COUNTERS);

  @ArchTest static final ArchRule eventsUseNoneOfOurs = usesOnly(FLIGHT);

  @ArchTest
  static final ArchRule theFlightRecorderIsKnownToEventsOnly =
      noClasses()
          .that()
          .resideOutsideOfPackage(FLIGHT)
          .should()
          .dependOnClassesThat()
          .resideInAPackage("jdk.jfr..")
          .because("a Java may lack that module");

  @ArchTest static final ArchRule theBinderUsesCounters = usesOnly(MICROMETER, COUNTERS);

  @ArchTest static final ArchRule theOtherBinderUsesCounters = usesOnly(OPENTELEMETRY, COUNTERS);

  @ArchTest
  static final ArchRule openTelemetryIsKnownToItsBinderOnly =
      noClasses()
          .that()
          .resideOutsideOfPackage(OPENTELEMETRY)
          .should()
          .dependOnClassesThat()
          .resideInAPackage("io.opentelemetry..")
          .because("an application need not have it");

  @ArchTest
  static final ArchRule micrometerIsKnownToTheBinderOnly =
      noClasses()
          .that()
          .resideOutsideOfPackage(MICROMETER)
          .should()
          .dependOnClassesThat()
          .resideInAPackage("io.micrometer..")
          .because("an application need not have it");

  @ArchTest
  static final ArchRule sharedMemoryIsFoundAsAService =
      noClasses()
          .that()
          .resideOutsideOfPackage(SHM)
          .should()
          .dependOnClassesThat()
          .resideInAPackage(SHM)
          .because("ServiceLoader finds it, as it finds every fabric");

  @ArchTest
  static final ArchRule packagesHaveNoCycles =
      slices().matching("dev.ringfetch.(**)").should().beFreeOfCycles();

  @ArchTest
  static final ArchRule applicationsMeetNoInternalType =
      classes()
          .that()
          .resideInAnyPackage(RPC, MICROMETER, OPENTELEMETRY)
          .and()
          .arePublic()
          .should(haveNoInternalTypeInTheirSignatures())
          .because("the module exports these packages alone");

  @ArchTest
  static final ArchRule packagesAreNamedForWhatTheyHold =
      noClasses()
          .should()
          .resideInAnyPackage(
              Stream.of("util", "common", "impl", "helper", "manager")
                  .flatMap(name -> Stream.of(".." + name + "..", ".." + name + "s.."))
                  .toArray(String[]::new));

  @ArchTest
  static final ArchRule grpcIsKnownToTheTopLayersOnly =
      noClasses()
          .that()
          .resideOutsideOfPackages(RPC, CALL)
          .should()
          .dependOnClassesThat()
          .resideInAPackage("io.grpc..");

  @ArchTest
  static final ArchRule nobodyUsesWhatIsNotForUs =
      noClasses()
          .should()
          .dependOnClassesThat(
              resideInAnyPackage("io.grpc.internal..", "com.ibm.disni..")
                  .or(named("sun.misc.Unsafe")));

  @ArchTest
  static final ArchRule nobodySleeps =
      noClasses()
          .should()
          .accessTargetWhere(
              calls(Thread.class, "sleep").or(calls(TimeUnit.class, "sleep")).as("sleep"))
          .because("a wait goes through an idle strategy or a park that can be woken");

  @ArchTest
  static final ArchRule ordersAreNamed =
      noClasses()
          .that()
          .resideInAnyPackage(RING, SESSION + "..")
          .should()
          .accessTargetWhere(
              calls(VarHandle.class, "get")
                  .or(calls(VarHandle.class, "set"))
                  .or(calls(VarHandle.class, "getOpaque"))
                  .or(calls(VarHandle.class, "setOpaque"))
                  .or(calls(VarHandle.class, "setRelease"))
                  .as("VarHandle.get, set, or what is not volatile"))
          .because("who says something through one looks for an answer afterwards");

  @ArchTest
  static final ArchRule nobodyAsksTheWallClock =
      noClasses()
          .should()
          .accessTargetWhere(
              DescribedPredicate.describe("the time of day", LayeringTest::isWallClock))
          .because("it jumps: deadlines and pauses are measured with System.nanoTime");

  @ArchTest
  static final ArchRule nobodyStartsTheTimerOfFutures =
      noClasses()
          .should()
          .accessTargetWhere(
              calls(CompletableFuture.class, "orTimeout")
                  .or(calls(CompletableFuture.class, "completeOnTimeout"))
                  .or(calls(CompletableFuture.class, "delayedExecutor"))
                  .as("CompletableFuture's timer"))
          .because("its thread never ends, and keeps the class loader of its first user");

  @ArchTest
  static final ArchRule hotLayersDoNotStream =
      noClasses()
          .that()
          .resideInAnyPackage(RING, FABRIC + "..")
          .should()
          .dependOnClassesThat(
              resideInAPackage("java.util.stream..")
                  .or(named("java.util.Optional"))
                  .or(named("java.util.OptionalInt"))
                  .or(named("java.util.OptionalLong"))
                  .or(named("java.util.OptionalDouble")))
          .because("each of these allocates");

  @ArchTest
  static final ArchRule hotLayersDoNotFormat =
      noClasses()
          .that()
          .resideInAnyPackage(RING, FABRIC + "..")
          .should()
          .accessTargetWhere(
              calls(String.class, "format")
                  .or(calls(String.class, "formatted"))
                  .as("String.format"));

  @ArchTest
  static final ArchRule descriptorsAreLayoutsOnly =
      classes()
          .that()
          .haveSimpleNameEndingWith("Descriptor")
          .should()
          .haveModifier(JavaModifier.FINAL)
          .andShould(haveNothingButStaticMembers())
          .because("a descriptor says where the fields of a layout are and is never an object");

  /** Rule that a package uses no classes of ours but its own and those of packages below. */
  private static ArchRule usesOnly(String user, String... below) {
    return noClasses()
        .that()
        .resideInAPackage(user)
        .should()
        .dependOnClassesThat(
            resideInAPackage("dev.ringfetch..")
                .and(not(resideInAPackage(user)))
                .and(not(resideInAnyPackage(below)))
                .as(
                    below.length == 0
                        ? "are in another package of ours"
                        : "are in a package of ours other than " + String.join(", ", below)));
  }

  /** What registered messages are written with: as it was in protobuf 3, whole. */
  private static DescribedPredicate<JavaClass> isRuntimeOfAnyVersion() {
    return named("com.google.protobuf.MessageLite")
        .or(named("com.google.protobuf.MessageLite$Builder"))
        .or(named("com.google.protobuf.CodedOutputStream"));
  }

  private static DescribedPredicate<JavaClass> named(String name) {
    return DescribedPredicate.describe(name, type -> type.getFullName().equals(name));
  }

  /** A call or a method reference, whatever the parameters. */
  private static DescribedPredicate<JavaAccess<?>> calls(Class<?> owner, String method) {
    return DescribedPredicate.describe(
        owner.getSimpleName() + "." + method,
        access ->
            access.getTargetOwner().isEquivalentTo(owner)
                && access.getTarget().getName().equals(method));
  }

  /** A call, constructor or method reference that yields what the wall clock says. */
  private static boolean isWallClock(JavaAccess<?> access) {
    final JavaClass owner = access.getTargetOwner();
    final String name = access.getTarget().getName();
    if (owner.isEquivalentTo(System.class)) {
      return name.equals("currentTimeMillis");
    }
    if (owner.isEquivalentTo(Clock.class)) {
      return name.startsWith("system") || name.startsWith("tick");
    }
    if (owner.getPackageName().equals("java.time")
        || owner.getPackageName().startsWith("java.time.")) {
      return name.equals("now");
    }
    if (owner.isEquivalentTo(Date.class)) {
      return name.equals("<init>");
    }
    if (owner.isAssignableTo(Calendar.class)) {
      return name.equals("getInstance") || name.equals("<init>");
    }
    return CLOCKS_OF_THE_DAY.contains(owner.getFullName());
  }

  private static ArchCondition<JavaClass> haveNoInternalTypeInTheirSignatures() {
    return new ArchCondition<>("have no internal type in their signatures") {
      @Override
      public void check(JavaClass type, ConditionEvents events) {
        for (final JavaMember member : type.getMembers()) {
          final Set<JavaModifier> modifiers = member.getModifiers();
          if (!modifiers.contains(JavaModifier.PUBLIC)
              && !modifiers.contains(JavaModifier.PROTECTED)) {
            continue;
          }
          for (final JavaClass named : member.getAllInvolvedRawTypes()) {
            final JavaClass element = named.getBaseComponentType();
            if (element.getPackageName().startsWith("dev.ringfetch.")
                && !element.getPackageName().equals(RPC)
                && !element.equals(type)) {
              events.add(
                  SimpleConditionEvent.violated(
                      member, member.getDescription() + " names " + element.getName()));
            }
          }
        }
      }
    };
  }

  private static ArchCondition<JavaClass> haveNothingButStaticMembers() {
    return new ArchCondition<>("have nothing but static members") {
      @Override
      public void check(JavaClass type, ConditionEvents events) {
        for (Set<? extends JavaMember> members : List.of(type.getFields(), type.getMethods())) {
          for (JavaMember member : members) {
            if (!member.getModifiers().contains(JavaModifier.STATIC)) {
              events.add(
                  SimpleConditionEvent.violated(
                      member,
                      member.getDescription()
                          + " is not static in "
                          + member.getSourceCodeLocation()));
            }
          }
        }
      }
    };
  }
}

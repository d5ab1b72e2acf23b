package dev.ringfetch.index.rules;

import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The packages of this module: which others each uses, how large a cycle of classes may be, and how
 * long a file. docs/index-rooms.md draws them.
 */
final class RoomsTest {
  private static final String MODULE = "dev.ringfetch.index";
  private static final Path SOURCES = Path.of("src/main/java/dev/ringfetch/index");

  /**
   * All packages, each with those of this module that it uses; "" is the program's. Constants that
   * the compiler copies do not count, here and in cycles.
   */
  private static final Map<String, Set<String>> ROOMS =
      Map.ofEntries(
          Map.entry("", Set.of("rights", "service")),
          Map.entry(
              "service",
              Set.of(
                  "call",
                  "coordinator",
                  "data",
                  "disk",
                  "grant",
                  "host",
                  "journal",
                  "kernel",
                  "log",
                  "node",
                  "outcome",
                  "partition",
                  "peers",
                  "replay",
                  "replication",
                  "rights",
                  "snapshot",
                  "store",
                  "watch")),
          Map.entry(
              "node", Set.of("call", "coordinator", "host", "journal", "replication", "store")),
          Map.entry(
              "call",
              Set.of(
                  "data", "host", "journal", "kernel", "outcome", "partition", "store", "watch")),
          Map.entry("kernel", Set.of()),
          Map.entry(
              "snapshot",
              Set.of("host", "journal", "log", "outcome", "partition", "replay", "store")),
          Map.entry("grant", Set.of("replication")),
          Map.entry("host", Set.of("journal", "outcome", "partition", "store")),
          Map.entry("replay", Set.of("journal", "outcome", "store")),
          Map.entry("peers", Set.of("onesided", "replication")),
          Map.entry(
              "replication", Set.of("coordinator", "journal", "log", "onesided", "partition")),
          Map.entry("onesided", Set.of("log")),
          Map.entry("log", Set.of("journal", "partition")),
          Map.entry("coordinator", Set.of("disk", "journal")),
          Map.entry("watch", Set.of("journal", "partition")),
          Map.entry("data", Set.of("disk", "journal")),
          Map.entry("journal", Set.of("disk", "outcome", "partition")),
          Map.entry("rights", Set.of()),
          Map.entry("disk", Set.of()),
          Map.entry("partition", Set.of("outcome", "store")),
          Map.entry("outcome", Set.of()),
          Map.entry("store", Set.of()));

  private static final int CYCLE_LIMIT = 8;

  private static final int LINES_LIMIT = 500;

  private final JavaClasses classes = new ClassFileImporter().importPath(Path.of("target/classes"));

  @Test
  void eachPackageUsesThoseThatTheListNames() {
    final Map<String, Set<String>> used = new TreeMap<>();
    for (final JavaClass user : classes) {
      if (user.getPackageName().startsWith(MODULE)) { // unlike module-info
        final Set<String> ofUser = used.computeIfAbsent(room(user), unused -> new TreeSet<>());
        for (final JavaClass other : ownDependencies(user)) {
          ofUser.add(room(other));
        }
      }
    }
    used.forEach((room, others) -> others.remove(room));
    assertEquals(ROOMS, used);
  }

  @Test
  void packagesHaveNoCycles() {
    slices().matching(MODULE + ".(**)").should().beFreeOfCycles().check(classes);
  }

  @Test
  void cyclesOfClassesAreSmall() {
    assertEquals(List.of(), cycles().stream().filter(cycle -> cycle.size() > CYCLE_LIMIT).toList());
  }

  @Test
  void filesAreShort() throws IOException {
    final List<String> longer = new ArrayList<>();
    try (Stream<Path> files = Files.walk(SOURCES)) {
      for (final Path file : files.filter(Files::isRegularFile).toList()) {
        final int lines = Files.readAllLines(file).size();
        if (lines > LINES_LIMIT) {
          longer.add(SOURCES.relativize(file) + ": " + lines);
        }
      }
    }
    assertEquals(List.of(), longer);
  }

  /** The classes of this module that a class uses. */
  private List<JavaClass> ownDependencies(JavaClass user) {
    return user.getDirectDependenciesFromSelf().stream()
        .map(Dependency::getTargetClass)
        .map(JavaClass::getBaseComponentType)
        .filter(type -> classes.contain(type.getName()))
        .toList();
  }

  /** The sets of classes that reach each other, nested ones as parts of those around them. */
  private Set<Set<String>> cycles() {
    final List<String> names = classes.stream().map(RoomsTest::file).distinct().sorted().toList();
    final Map<String, Integer> numbers = new TreeMap<>();
    names.forEach(name -> numbers.put(name, numbers.size()));
    final List<BitSet> reached = new ArrayList<>();
    names.forEach(name -> reached.add(new BitSet()));
    for (final JavaClass user : classes) {
      for (final JavaClass other : ownDependencies(user)) {
        reached.get(numbers.get(file(user))).set(numbers.get(file(other)));
      }
    }
    for (int through = 0; through < names.size(); through++) { // Warshall
      for (final BitSet from : reached) {
        if (from.get(through)) {
          from.or(reached.get(through));
        }
      }
    }
    final Set<Set<String>> cycles = new TreeSet<>(Comparator.comparing(Set::toString));
    for (int one = 0; one < names.size(); one++) {
      final Set<String> cycle = new TreeSet<>();
      for (int other = 0; other < names.size(); other++) {
        if (reached.get(one).get(other) && reached.get(other).get(one)) {
          cycle.add(names.get(other));
        }
      }
      if (cycle.size() > 1) {
        cycles.add(cycle);
      }
    }
    return cycles;
  }

  private static String room(JavaClass type) {
    final String name = type.getPackageName();
    return name.equals(MODULE) ? "" : name.substring(MODULE.length() + 1);
  }

  private static String file(JavaClass type) {
    return type.getName().replaceFirst("\\$.*", "");
  }
}

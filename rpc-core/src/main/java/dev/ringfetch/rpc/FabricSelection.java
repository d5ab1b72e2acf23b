package dev.ringfetch.rpc;

import dev.ringfetch.fabric.FabricProvider;
import dev.ringfetch.fabric.FabricProviders;
import dev.ringfetch.fabric.Obstacle;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.StringJoiner;
import java.util.stream.Stream;

/**
 * The fabrics that a channel or a server may use, the best first. Immutable.
 *
 * @param names in order of preference, or null for all, by their priority.
 * @param providers the available ones, or null for those on the class path.
 */
record FabricSelection(List<String> names, List<FabricProvider> providers) {
  /** System property that sets the names where no builder does, separated by commas. */
  static final String PROPERTY = "ringfetch.fabrics";

  private static final Set<String> OURS = Set.of(FabricProviders.SHM, FabricProviders.VERBS);

  /** Limit of failures, since ServiceLoader need not get past a provider that it cannot load. */
  private static final int MAX_FAILURES = 100;

  /** The selection of a builder without settings. A wrong property does not cause an exception. */
  static FabricSelection unlessSet() {
    final String property = System.getProperty(PROPERTY);
    final FabricSelection all = new FabricSelection(null, null);
    return property == null
        ? all
        : all.named(
            Stream.of(property.split("[,\\s]+")).filter(name -> !name.isEmpty()).distinct());
  }

  /** Restricts the selection to these names. */
  FabricSelection only(String... names) {
    final Set<String> seen = new HashSet<>();
    for (final String name : names) {
      if (name.isBlank() || !seen.add(name)) {
        throw new IllegalArgumentException("blank or named twice: fabric=\"" + name + "\"");
      }
    }
    return named(Stream.of(names));
  }

  private FabricSelection named(Stream<String> stream) {
    final List<String> selected = stream.toList();
    for (final String name : selected) {
      if (!isKnown(name) && present().stream().noneMatch(p -> p.name().equals(name))) {
        Misconfiguration.log(
            "no fabric is called \"" + name + "\", which " + PROPERTY + " or a builder names");
      }
    }
    return new FabricSelection(selected, providers);
  }

  /** The same names of other providers than those on the class path. */
  FabricSelection of(List<FabricProvider> others) {
    return new FabricSelection(names, List.copyOf(others));
  }

  /** True also of one that is not on the class path: settings serve several applications. */
  static boolean isKnown(String name) {
    return OURS.contains(name) || onClassPath().stream().anyMatch(p -> p.name().equals(name));
  }

  private static List<FabricProvider> onClassPath() {
    return onClassPath(FabricSelection.class.getClassLoader(), new StringJoiner("; "));
  }

  /** Returns the providers that can be loaded; adds an obstacle for each that cannot. */
  static List<FabricProvider> onClassPath(ClassLoader loader, StringJoiner obstacles) {
    final List<FabricProvider> found = new ArrayList<>();
    final Iterator<FabricProvider> services =
        ServiceLoader.load(FabricProvider.class, loader).iterator();
    int failures = 0;
    while (failures < MAX_FAILURES) {
      try {
        if (!services.hasNext()) {
          break;
        }
        found.add(services.next());
      } catch (ServiceConfigurationError | LinkageError e) { // the next one may be in order
        failures++;
        obstacles.add("a fabric cannot be loaded: " + Obstacle.of(e));
      }
    }
    return found;
  }

  private List<FabricProvider> present() {
    return present(new StringJoiner("; "));
  }

  private List<FabricProvider> present(StringJoiner obstacles) {
    return providers == null
        ? onClassPath(FabricSelection.class.getClassLoader(), obstacles)
        : providers;
  }

  /**
   * Returns the fabrics that may be used, the best first.
   *
   * @param obstacles gets the reasons why there is less than was named.
   */
  List<FabricProvider> select(StringJoiner obstacles) {
    final List<FabricProvider> present = new ArrayList<>(present(obstacles));
    present.sort(Comparator.comparingInt(FabricProvider::priority).reversed());
    if (names == null) {
      if (present.isEmpty()) {
        obstacles.add("no fabric is on the class path");
      }
      return present;
    }
    if (names.isEmpty()) {
      obstacles.add("no fabric is to be used");
    }
    final List<FabricProvider> selected = new ArrayList<>();
    for (final String name : names) {
      present.stream()
          .filter(provider -> provider.name().equals(name))
          .findFirst()
          .ifPresentOrElse(
              selected::add, () -> obstacles.add(name + ": no provider is on the class path"));
    }
    return selected;
  }

  /**
   * Written out, because on JDK 17 a record's default implementation leaves the class in a cache of
   * the JDK, which keeps the class loader.
   */
  @Override
  public boolean equals(Object other) {
    return other instanceof FabricSelection selection
        && Objects.equals(names, selection.names)
        && Objects.equals(providers, selection.providers);
  }

  @Override
  public int hashCode() {
    return Objects.hash(names, providers);
  }
}

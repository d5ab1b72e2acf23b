package dev.ringfetch.mutants;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;

/** Applies mutants one by one and says of each which test found it. The main program. */
public final class Mutants {
  private static final String USAGE =
      """
      usage: MODULE/src/test/mutants/run [options] [ID...]

        ID...           run these mutants; an ID that ends with * stands for all that begin so,
                        less those that are known to be equivalent
        --all           run all
        --pick N        run N of all, chosen ...
        --by TEXT       ... by this text, a commit's hash for example
        --by-hand       with --all or --pick: only of those written by hand
        --list          print the mutants instead of running them
        --kind KIND     run only suites of this kind (unit, simulator, stress); may be repeated
        --at-least N    with --kind: fail only when fewer than N are killed

      Exits with 1 if a mutant survives.
      """;

  private final List<String> ids = new ArrayList<>();
  private final Set<String> kinds = new HashSet<>();
  private boolean all;
  private boolean list;
  private boolean byHand;
  private int pick;
  private String by = "";
  private int atLeast = -1;

  private Mutants() {}

  /** Runs. The first argument is the module's folder. */
  public static void main(String[] args) throws IOException {
    final Mutants mutants = new Mutants();
    final Path module = Path.of(args[0]);
    if (!mutants.parse(List.of(args).subList(1, args.length))) {
      System.err.print(USAGE);
      System.exit(2);
    }
    try {
      System.exit(mutants.run(module) ? 0 : 1);
    } catch (IllegalArgumentException e) { // of what was asked for, or of a line of the lists
      System.err.println(e.getMessage());
      System.exit(2);
    }
  }

  /**
   * How many mutants by hand the lists of a module have.
   *
   * @throws IllegalArgumentException if a line of a list fits nothing in the sources.
   */
  public static int handwritten(Path module) throws IOException {
    final Path folder = module.resolve("src/test/mutants");
    final Sources sources =
        new Sources(module.resolve("src/main/java"), module.resolve("target/classes"));
    if (Suite.read(folder.resolve("suites")).isEmpty()) {
      throw new IllegalArgumentException("no suites: " + folder);
    }
    return Known.read(folder, sources).handwritten();
  }

  private boolean parse(List<String> args) {
    for (int i = 0; i < args.size(); i++) {
      final String arg = args.get(i);
      final boolean hasValue = i + 1 < args.size();
      switch (arg) {
        case "--all" -> all = true;
        case "--list" -> list = true;
        case "--by-hand" -> byHand = true;
        case "--pick", "--by", "--kind", "--at-least" -> {
          if (!hasValue) {
            return false;
          }
          final String value = args.get(++i);
          switch (arg) {
            case "--pick" -> pick = Integer.parseInt(value);
            case "--by" -> by = value;
            case "--kind" -> {
              if (!Suite.KINDS.contains(value)) {
                return false;
              }
              kinds.add(value);
            }
            default -> atLeast = Integer.parseInt(value);
          }
        }
        default -> {
          if (arg.startsWith("-")) {
            return false;
          }
          ids.add(arg);
        }
      }
    }
    return all || list || pick > 0 || !ids.isEmpty();
  }

  private boolean run(Path module) throws IOException {
    final Path folder = module.resolve("src/test/mutants");
    final Sources sources =
        new Sources(module.resolve("src/main/java"), module.resolve("target/classes"));
    final Known lists = Known.read(folder, sources);
    final List<Mutant> known = lists.mutants();
    final int handwritten = lists.handwritten();
    final Map<String, String> equivalents = lists.equivalents();
    final List<Mutant> chosen = choose(byHand ? known.subList(0, handwritten) : known, equivalents);
    System.out.println(
        "mutants: "
            + handwritten
            + " by hand, "
            + (known.size() - handwritten)
            + " mechanical, "
            + equivalents.size()
            + " of them equivalent; left out: "
            + lists.leftOut()
            + "; chosen: "
            + chosen.size());
    if (list) {
      for (final Mutant mutant : chosen) {
        final String reason = equivalents.get(mutant.id());
        System.out.println(mutant + (reason == null ? "" : " [equivalent: " + reason + "]"));
      }
      return true;
    }
    final List<Suite> suites = Suite.read(folder.resolve("suites"));
    try (Bench bench = new Bench(module, sources, suites, kinds)) {
      return report(bench, chosen, equivalents.size());
    }
  }

  private List<Mutant> choose(List<Mutant> known, Map<String, String> equivalents) {
    if (list && ids.isEmpty()) {
      return known;
    }
    final List<Mutant> live =
        new ArrayList<>(
            known.stream().filter(mutant -> !equivalents.containsKey(mutant.id())).toList());
    if (pick > 0) {
      Collections.shuffle(live, new Random(by.hashCode()));
      return live.subList(0, Math.min(pick, live.size()));
    }
    if (all) {
      return live;
    }
    final Set<Mutant> chosen = new HashSet<>();
    for (final String id : ids) {
      final List<Mutant> named =
          (id.endsWith("*") ? live : known).stream().filter(mutant -> isNamed(mutant, id)).toList();
      if (named.isEmpty()) {
        throw new IllegalArgumentException("no such mutant: " + id);
      }
      chosen.addAll(named);
    }
    return known.stream().filter(chosen::contains).toList();
  }

  private static boolean isNamed(Mutant mutant, String id) {
    return id.endsWith("*")
        ? mutant.id().startsWith(id.substring(0, id.length() - 1))
        : mutant.id().equals(id);
  }

  private boolean report(Bench bench, List<Mutant> chosen, int equivalents) throws IOException {
    final List<Mutant> survivors = new ArrayList<>();
    final Map<String, Integer> killers = new TreeMap<>();
    for (final Mutant mutant : chosen) {
      final Bench.Result result = bench.run(mutant);
      System.out.println(mutant + ": " + result.text());
      if (result.killer() == null) {
        survivors.add(mutant);
      } else {
        killers.merge(result.killer().kind(), 1, Integer::sum);
      }
    }
    if (!survivors.isEmpty()) {
      System.out.println("survivors:");
      survivors.forEach(survivor -> System.out.println("  " + survivor));
    }
    killers.forEach((kind, count) -> System.out.println("killed by " + kind + ": " + count));
    final int killed = chosen.size() - survivors.size();
    System.out.println(
        "mutants: "
            + killed
            + " killed, "
            + survivors.size()
            + " survived, "
            + equivalents
            + " equivalent");
    return atLeast < 0 ? survivors.isEmpty() : killed >= atLeast;
  }
}

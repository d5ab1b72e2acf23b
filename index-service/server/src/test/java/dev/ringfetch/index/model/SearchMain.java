package dev.ringfetch.index.model;

/**
 * The command of the model. {@code SearchMain LIMIT SCOPE [RULE]} searches a scope, with a rule
 * broken if one is named; {@code SearchMain mutants} searches for each of them in its scope.
 */
final class SearchMain {
  private SearchMain() {}

  /** Searches; exits with 1 after a violation, or if a mutant was not found. */
  public static void main(String[] args) {
    if (args[0].equals("mutants")) {
      boolean found = true;
      for (final Rule rule : Rule.values()) {
        if (rule != Rule.NONE) {
          found &= report(rule.scope(), rule, 20_000_000).violation() != null;
        }
      }
      System.exit(found ? 0 : 1);
    }
    final Rule rule = args.length > 2 ? Rule.valueOf(args[2]) : Rule.NONE;
    final Search.Result result = report(args[1], rule, Integer.parseInt(args[0]));
    result.trace().forEach(line -> System.out.println("  " + line));
    System.out.print(result.coverage());
    System.exit(result.violation() == null ? 0 : 1);
  }

  private static Search.Result report(String scope, Rule rule, int limit) {
    final long start = System.nanoTime();
    final Search.Result result =
        new Search(new ReplicationModel(Scope.of(scope), rule), limit).run();
    System.out.printf(
        "%-32s %-60s states %9d %s %.1f s%n",
        rule,
        scope,
        result.states(),
        result.violation() != null ? result.violation() : result.complete() ? "all" : "CUT",
        (System.nanoTime() - start) / 1e9);
    return result;
  }
}

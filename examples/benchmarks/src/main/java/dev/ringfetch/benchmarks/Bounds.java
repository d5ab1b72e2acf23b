package dev.ringfetch.benchmarks;

import static java.util.Collections.singletonList;

import java.util.Collection;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/**
 * The least values of the options' numbers: counts, lengths and times. A senseless value is refused
 * before anything is measured, as it would waste a run, or print meaningless figures.
 */
final class Bounds {
  /** Of these 0 says something: none, or at once. */
  private static final Set<String> MAY_BE_ZERO =
      Set.of("--rates", "--percent", "--idle", "--settle", "--pause", "--kills");

  private Bounds() {}

  /**
   * Checks the numbers of all options.
   *
   * @throws ParameterException that names the first option with too small a number.
   */
  static void check(ParseResult parsed) {
    for (final CommandLine command : parsed.asCommandLineList()) {
      command.getCommandSpec().options().forEach(option -> check(command, option));
    }
  }

  private static void check(CommandLine command, OptionSpec option) {
    final Object value = option.getValue();
    final int least = MAY_BE_ZERO.contains(option.longestName()) ? 0 : 1;
    for (final Object one : value instanceof Collection<?> many ? many : singletonList(value)) {
      if (one instanceof Number number && number.doubleValue() < least) {
        throw new ParameterException(
            command, option.longestName() + " is at least " + least + ": " + number);
      }
    }
  }
}

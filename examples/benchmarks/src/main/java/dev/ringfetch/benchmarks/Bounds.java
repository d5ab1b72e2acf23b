package dev.ringfetch.benchmarks;

import static java.util.Collections.singletonList;

import java.util.Collection;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/**
 * What the options' numbers may be. They are counts, lengths and times: one that makes no sense is
 * refused before anything is measured, as it would cost a run, or print figures of nothing.
 */
final class Bounds {
  /** Of these 0 says something: none, or at once. */
  private static final Set<String> MAY_BE_ZERO =
      Set.of("--rates", "--percent", "--idle", "--settle", "--pause");

  private Bounds() {}

  /**
   * Looks at the numbers of all options.
   *
   * @throws ParameterException that names the first one that is too small.
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

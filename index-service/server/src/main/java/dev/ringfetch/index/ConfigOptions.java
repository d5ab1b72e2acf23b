package dev.ringfetch.index;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;

/** The options of a server's configuration as a whole: where it is read, and that it is printed. */
final class ConfigOptions {
  /** Name of the option of the file; {@link ServerDefaults} reads it. */
  static final String CONFIG = "--config";

  /** Name of the option that prints the configuration. */
  static final String PRINT = "--print-config";

  private static final Set<String> OTHERS = Set.of(CONFIG, PRINT, FullHelp.ALL, "--version");

  @SuppressWarnings("UnusedVariable") // ServerDefaults looks at it
  @Option(
      names = CONFIG,
      paramLabel = "FILE",
      description = "Options that are not given here, as NAME = VALUE.")
  private @Nullable Path file;

  @Option(names = PRINT, description = "Print the configuration that counts, and exit.")
  private boolean print;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  /** Whether an option may be set in the file, and by the environment. */
  static boolean isSettable(OptionSpec option) {
    return !OTHERS.contains(option.longestName());
  }

  /**
   * Refuses a wrong file, and warns of variables that set nothing. Prints the configuration in the
   * form of the file, if the option says so: those that are not set as comments. Returns whether it
   * does.
   */
  boolean print() {
    if (spec.defaultValueProvider() instanceof ServerDefaults defaults) {
      defaults.check(spec.commandLine());
      final List<String> unknown = defaults.unknown(spec);
      if (!unknown.isEmpty()) {
        final String names = String.join(", ", unknown);
        spec.commandLine()
            .getErr()
            .println("index server: ignores variables of no option: " + names);
      }
    }
    if (!print) {
      return false;
    }
    final PrintWriter out = spec.commandLine().getOut();
    for (final OptionSpec option : spec.options()) {
      if (isSettable(option)) {
        final String name = option.longestName().substring(2);
        final String value = value(option);
        out.println(value == null ? "# " + name + " =" : name + " = " + value);
      }
    }
    out.flush();
    return true;
  }

  private @Nullable String value(OptionSpec option) {
    final ParseResult parsed = spec.commandLine().getParseResult();
    if (parsed.hasMatchedOption(option)) {
      final List<String> given = parsed.matchedOption(option.longestName()).originalStringValues();
      return String.join(",", given);
    }
    final String value =
        spec.defaultValueProvider() instanceof ServerDefaults defaults
            ? defaults.defaultValue(option)
            : null;
    return value == null ? option.defaultValue() : value;
  }
}

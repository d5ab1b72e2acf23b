package dev.ringfetch.index;

import java.util.Set;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;

/**
 * The help of a server. The usual one leaves out options that few operators set, so that it fits a
 * screen.
 */
final class FullHelp {
  /** Name of the option of the whole help. */
  static final String ALL = "--help-all";

  private static final Set<String> RARE =
      Set.of(
          "--adopt",
          "--direct",
          "--disk-quota",
          "--partitions",
          "--audit",
          "--audit-from",
          "--shm-directory",
          "--log-level",
          ConfigOptions.PRINT,
          "--snapshot-after",
          "--sync-interval",
          "--spin-time",
          "--replication",
          "--node-timeout");

  @SuppressWarnings("UnusedVariable") // picocli looks at it
  @Option(
      names = {"-h", "--help", ALL},
      usageHelp = true,
      description = "Print this, or also what few need, and exit.")
  private boolean help;

  @SuppressWarnings("UnusedVariable")
  @Option(
      names = {"-V", "--version"},
      versionHelp = true,
      description = "Print the version, and exit.")
  private boolean version;

  /** Sets the list of options in the help of the program; called by picocli. */
  @Spec(Spec.Target.MIXEE)
  void program(CommandSpec program) {
    program.usageMessage().sectionMap().put(UsageMessageSpec.SECTION_KEY_OPTION_LIST, this::list);
  }

  private String list(Help help) {
    final ParseResult parsed = help.commandSpec().commandLine().getParseResult();
    final boolean all = parsed != null && parsed.originalArgs().contains(ALL);
    return help.optionListExcludingGroups(
        help.commandSpec().options().stream()
            .filter(option -> all || !RARE.contains(option.longestName()))
            .toList(),
        help.createDefaultLayout(),
        null, // in the order of their declaration
        help.parameterLabelRenderer());
  }
}

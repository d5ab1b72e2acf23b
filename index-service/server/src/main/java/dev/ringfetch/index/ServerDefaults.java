package dev.ringfetch.index;

import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.IDefaultValueProvider;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;

/**
 * The values of a server's options that the command line does not set: of the environment, {@code
 * RINGFETCH_DATA} for {@code --data}, or else of the configuration file. An empty variable counts
 * as not set.
 *
 * <p>Of one command line; used by one thread.
 */
public final class ServerDefaults implements IDefaultValueProvider {
  private static final String PREFIX = "RINGFETCH_";
  private static final Pattern OPTION = Pattern.compile("--[a-z-]+");

  /** Variables of the file itself, of clients, of the JVM and of the start script. */
  private static final Set<String> OTHERS =
      Stream.of(
              "CONFIG",
              "CACHE",
              "DROPIN",
              "INDEX",
              "JVM_FLAGS",
              "PASSWORD_FILE",
              "SERVER",
              "TRACE",
              "USER")
          .map(PREFIX::concat)
          .collect(Collectors.toUnmodifiableSet());

  /** Variables that Kubernetes sets for Services whose names begin with ringfetch. */
  private static final Pattern SERVICES = Pattern.compile(PREFIX + "(.+_)?(SERVICE|PORT)(_.+)?");

  /** Begin of RINGFETCH_PORT as Kubernetes sets it where a Service is called ringfetch. */
  private static final String KUBERNETES = "tcp://";

  private final Map<String, String> environment;
  private final Map<String, String> origins = new HashMap<>(); // of the values that were asked for
  private @Nullable ConfigFile file; // null: none, or not read yet
  private @Nullable String failure; // of the file
  private boolean hasRead;

  /** Creates the defaults of an environment. */
  public ServerDefaults(Map<String, String> environment) {
    this.environment = environment;
  }

  @Override
  public @Nullable String defaultValue(ArgSpec argument) {
    if (!(argument instanceof OptionSpec option) || !ConfigOptions.isSettable(option)) {
      return null;
    }
    final String name = option.longestName();
    final String variable = variable(name);
    final String value = environment.getOrDefault(variable, "");
    if (!value.isEmpty() && !value.startsWith(KUBERNETES)) {
      origins.put(name, variable);
      return value;
    }
    final ConfigFile config = file(option.command());
    if (config == null || config.value(name) == null) {
      return null;
    }
    origins.put(name, config.place(name));
    return config.value(name);
  }

  private static String variable(String option) {
    return PREFIX + option.substring(2).toUpperCase(Locale.ROOT).replace('-', '_');
  }

  private @Nullable ConfigFile file(CommandSpec command) {
    if (hasRead) {
      return file;
    }
    hasRead = true;
    final Path given = command.findOption(ConfigOptions.CONFIG).getValue();
    final String name =
        given == null
            ? environment.getOrDefault(variable(ConfigOptions.CONFIG), "")
            : given.toString();
    if (name.isEmpty()) {
      return null;
    }
    try {
      file =
          ConfigFile.read(
              Path.of(name),
              command.options().stream()
                  .filter(ConfigOptions::isSettable)
                  .map(OptionSpec::longestName)
                  .collect(Collectors.toSet()));
    } catch (IOException | InvalidPathException e) {
      failure = e.getMessage();
    }
    return file;
  }

  /** Throws if the configuration file cannot be read, or is wrong. */
  void check(CommandLine program) {
    final var unused = file(program.getCommandSpec());
    if (failure != null) {
      throw new ParameterException(program, failure);
    }
  }

  /** Variables of the environment that are set, look like those of options, and are not. */
  List<String> unknown(CommandSpec command) {
    final Set<String> known =
        command.options().stream()
            .filter(ConfigOptions::isSettable)
            .map(option -> variable(option.longestName()))
            .collect(Collectors.toSet());
    return environment.keySet().stream()
        .filter(name -> name.startsWith(PREFIX) && !environment.get(name).isEmpty())
        .filter(name -> !known.contains(name) && !OTHERS.contains(name))
        .filter(name -> !SERVICES.matcher(name).matches())
        .sorted()
        .toList();
  }

  /**
   * The text of an error in a command line, with the place of the option that it names: a line of
   * the configuration file or a variable of the environment.
   */
  public static String text(ParameterException error) {
    final CommandLine line = error.getCommandLine();
    final Matcher named = OPTION.matcher(String.valueOf(error.getMessage()));
    while (line.getDefaultValueProvider() instanceof ServerDefaults defaults && named.find()) {
      final String origin = defaults.origins.get(named.group());
      final CommandLine.ParseResult parsed = line.getParseResult();
      if (origin != null && (parsed == null || !parsed.hasMatchedOption(named.group()))) {
        return origin + ": " + error.getMessage();
      }
    }
    return error.getMessage();
  }
}

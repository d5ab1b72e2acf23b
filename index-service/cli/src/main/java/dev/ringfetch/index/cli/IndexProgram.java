package dev.ringfetch.index.cli;

import dev.ringfetch.index.IndexServer;
import dev.ringfetch.index.ServerDefaults;
import dev.ringfetch.index.VersionResource;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IDefaultValueProvider;
import picocli.CommandLine.IFactory;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * The command-line program of the index service. An error is one line on stderr; {@link ExitCode}
 * has the codes.
 */
@Command(
    name = "index",
    sortOptions = false,
    versionProvider = VersionResource.class,
    customSynopsis =
        "${COMMAND-NAME} COMMAND; COMMAND --help says more. Also: topic, demo, map, bench.",
    commandListHeading = "",
    footer = "Exit codes: 0 done, 1 failed, 2 misuse, 3 nothing found, 4 no server.")
public final class IndexProgram implements Runnable {
  /** The name of the program on the command line. */
  static final String NAME = System.getProperty("ringfetch.program", "index");

  private static final String SERVE = "serve";
  private static final String USE = "use"; // in a shell

  private static final Map<String, Function<Session, Object>> COMMANDS = new LinkedHashMap<>();

  static {
    COMMANDS.put(SERVE, session -> new IndexServer());
    COMMANDS.put("create", CreateCommand::new);
    COMMANDS.put("drop", DropCommand::new);
    COMMANDS.put("list", ListCommand::new);
    COMMANDS.put("describe", DescribeCommand::new);
    COMMANDS.put("put", PutCommand::new);
    COMMANDS.put("get", GetCommand::new);
    COMMANDS.put("increment", IncrementCommand::new);
    COMMANDS.put("touch", TouchCommand::new);
    COMMANDS.put("delete", DeleteCommand::new);
    COMMANDS.put("scan", ScanCommand::new);
    COMMANDS.put("search", SearchCommand::new);
    COMMANDS.put("nearest", NearestCommand::new);
    COMMANDS.put("watch", WatchCommand::new);
    COMMANDS.put("count", CountCommand::new);
    COMMANDS.put("load", LoadCommand::new);
    COMMANDS.put("dump", DumpCommand::new);
    COMMANDS.put("stat", StatCommand::new);
    COMMANDS.put("cluster", ClusterCommand::new);
    COMMANDS.put("topic", TopicCommand::new);
    COMMANDS.put("snapshot", SnapshotCommand::new);
    COMMANDS.put("backup", BackupCommand::new);
    COMMANDS.put("verify", VerifyCommand::new);
    COMMANDS.put("salvage", SalvageCommand::new);
    COMMANDS.put("user", UserCommand::new);
    COMMANDS.put("shell", ShellCommand::new);
    COMMANDS.put(USE, UseCommand::new);
  }

  private final Session session;

  @SuppressWarnings("UnusedVariable") // picocli looks at it
  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      hidden = true)
  private boolean help;

  @SuppressWarnings("UnusedVariable") // picocli looks at it
  @Option(names = "--version", versionHelp = true, hidden = true)
  private boolean version;

  @Spec private CommandSpec spec;

  private IndexProgram(Session session) {
    this.session = session;
  }

  /** Runs the program; ends the JVM. */
  public static void main(String[] args) {
    final StopSignal stop = StopSignal.ofProcess();
    final Stdio stdio = Stdio.ofProcess();
    if (args.length > 0 && !args[0].equals(SERVE) && !isTraced(stdio, List.of(args))) {
      // Silences the libraries, which would log, for example, that a remote server has no ring.
      LogManager.getLogManager().getLogger("").setLevel(Level.OFF);
    }
    final int code;
    try {
      code = run(stdio, stop, args);
    } finally {
      stop.ended(); // also after an Error: the process must not wait for the command
    }
    System.exit(code);
  }

  /** Runs a command line, and returns the exit code. */
  static int run(Stdio stdio, StopSignal stop, String... args) {
    try (Session session = new Session(stdio, stop)) {
      return execute(session, args);
    }
  }

  /** Executes a command line of a session, and returns the exit code. */
  static int execute(Session session, String... args) {
    final Optional<String> lost =
        Stream.concat(Arrays.stream(args), session.defaults())
            .filter(IndexProgram::isLost)
            .findFirst();
    if (lost.isPresent()) {
      session
          .stdio()
          .note(
              NAME
                  + ": '"
                  + Printable.shorten(lost.get())
                  + "' has characters that were lost: export LC_ALL=C.UTF-8;"
                  + " keys and values can be of the type hex ("
                  + NAME
                  + " --help)");
      return ExitCode.MISUSE;
    }
    try {
      return commandLine(session, args).execute(args);
    } catch (OutOfMemoryError e) {
      final FailureReport report = FailureReport.of(e, null, "");
      session.stdio().note(NAME + ": " + report.line());
      return report.exitCode();
    }
  }

  /**
   * Whether a text has the replacement character, which the JVM puts for bytes that are malformed
   * in the locale's encoding. Two different names, paths or keys may then look the same.
   */
  private static boolean isLost(String text) {
    return text.indexOf('\uFFFD') >= 0;
  }

  private static PrintWriter lines(OutputStream stream) {
    return new PrintWriter(new OutputStreamWriter(stream, StandardCharsets.UTF_8), true);
  }

  private static void addCommand(
      CommandLine program, String name, Object command, Session session) {
    final CommandLine line = new CommandLine(command, factory(session));
    line.setCommandName(name);
    line.getCommandSpec().usageMessage().sortOptions(false).abbreviateSynopsis(true);
    if (name.equals(SERVE)) {
      line.getCommandSpec().usageMessage().description("Serve indexes, until a signal ends it.");
    }
    program.addSubcommand(name, line);
    if (command instanceof ClusterCommand cluster) {
      addCommand(line, "recover", new RecoverCommand(cluster.session()), session);
    }
    if (command instanceof TopicCommand topic) {
      topic.commands().forEach((each, part) -> addCommand(line, each, part, session));
    }
  }

  /**
   * The factory of objects that commands name by their class; completion of names asks the
   * session's server.
   */
  static IFactory factory(Session session) {
    return new IFactory() {
      @Override
      public <T> T create(Class<T> type) throws Exception {
        if (type == Completion.Indexes.class) {
          return type.cast(new Completion.Indexes(session));
        }
        return type == Completion.Nodes.class
            ? type.cast(new Completion.Nodes(session))
            : CommandLine.defaultFactory().create(type);
      }
    };
  }

  /** The program with all commands, or only with the command that the arguments name. */
  static CommandLine commandLine(Session session, String... args) {
    final Stdio stdio = session.stdio();
    final CommandLine program = new CommandLine(new IndexProgram(session)).setCommandName(NAME);
    final boolean one = args.length > 0 && COMMANDS.containsKey(args[0]);
    COMMANDS.forEach(
        (name, command) -> {
          // Reading the options of all commands takes longer than most commands run.
          if ((!one || name.equals(args[0])) && (session.isShell() || !name.equals(USE))) {
            addCommand(program, name, command.apply(session), session);
          }
        });
    program
        .setOut(lines(stdio.out()))
        .setErr(lines(stdio.err()))
        .setExpandAtFiles(false)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setOverwrittenOptionsAllowed(false)
        .setDefaultValueProvider(new Defaults(session))
        .setParameterExceptionHandler(IndexProgram::onMisuse)
        .setExecutionExceptionHandler(
            (failure, line, parsed) -> onFailure(failure, line, parsed, session));
    final CommandLine serve = program.getSubcommands().get(SERVE);
    if (serve != null) {
      serve.setDefaultValueProvider(new ServerDefaults(stdio.environment()));
    }
    return program;
  }

  /** Prints the usage: no command was given. */
  @Override
  public void run() {
    if (!session.isShell()) {
      throw new ParameterException(
          spec.commandLine(), "a command is missing: serve, put, get, scan, ...");
    }
  }

  /**
   * The defaults of options that the environment or the shell sets; {@link IndexOption} has its
   * own.
   */
  private record Defaults(Session session) implements IDefaultValueProvider {
    @Override
    public String defaultValue(ArgSpec argument) {
      return argument instanceof OptionSpec option
              && !option.longestName().equals(IndexOption.INDEX)
          ? session.defaultOf(option.longestName())
          : null;
    }
  }

  private static int onMisuse(ParameterException error, String[] arguments) {
    final CommandLine line = error.getCommandLine();
    final String name = line.getCommandSpec().qualifiedName();
    final StringBuilder text = new StringBuilder(name).append(": ");
    if (error instanceof UnmatchedArgumentException unmatched) {
      final String given = unmatched.getUnmatched().get(0);
      final boolean program = line.getParent() == null;
      if (given.startsWith("-")) {
        text.append("there is no option ").append(given);
        text.append(program ? "" : "; a key or value that begins with - follows --");
      } else if (program) {
        text.append("there is no command '").append(given).append("'");
      } else {
        text.append("one operand too many: ").append(Printable.shorten(given));
      }
      final List<String> similar = unmatched.getSuggestions();
      if (!similar.isEmpty() && (program || given.startsWith("-"))) {
        text.append("; similar: ").append(String.join(", ", similar));
      }
    } else {
      text.append(Stdio.oneLine(ServerDefaults.text(error)));
    }
    line.getErr().println(text.append(" (").append(name).append(" --help)"));
    return ExitCode.MISUSE;
  }

  private static boolean isTraced(Stdio stdio, List<String> args) {
    return args.contains("--verbose")
        || !stdio.environment().getOrDefault("RINGFETCH_TRACE", "").isEmpty();
  }

  private static int onFailure(
      Exception failure, CommandLine line, ParseResult parsed, Session session) {
    final String name = line.getCommandSpec().qualifiedName();
    final ServerOptions server =
        line.getCommand() instanceof ClientCommand command ? command.server() : null;
    final FailureReport report =
        FailureReport.of(
            failure,
            server == null ? null : server.server(),
            server == null ? "" : TimeSpan.text(server.timeout()));
    if (!report.line().isEmpty()) {
      final boolean misuse = report.exitCode() == ExitCode.MISUSE;
      line.getErr()
          .println(
              name
                  + ": "
                  + Stdio.oneLine(report.line())
                  + (misuse ? " (" + name + " --help)" : ""));
    }
    if (isTraced(session.stdio(), parsed.originalArgs())) {
      failure.printStackTrace(line.getErr());
    }
    return report.exitCode();
  }
}

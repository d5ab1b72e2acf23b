package dev.ringfetch.index;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The log of a server: the levels of its loggers, and the form of its lines on standard error, each
 * with time, level and logger. With a file of {@code java.util.logging.config.file}, the levels are
 * those of the file unless the option names one, and a handler keeps the formatter that the file
 * names for it.
 */
final class LogOptions {
  private static final String ROOT = "";
  private static final String PREFIX = "dev.ringfetch";

  /**
   * The logger of gRPC about connections that end with an error, as where the port gets garbage.
   */
  private static final String CONNECTIONS = "io.grpc.netty.NettyServerTransport";

  /** The logger of netty about what its handlers throw, as where a TLS handshake is malformed. */
  private static final String PIPELINES = "io.netty.channel.DefaultChannelPipeline";

  /** Loggers that tell operators too much. */
  private static final Map<String, Level> QUIET =
      Map.of(
          "com.ibm.disni", // each object of RDMA that comes and goes
          Level.WARNING,
          "io.netty.bootstrap", // options of TCP on Unix sockets
          Level.SEVERE,
          "org.apache.curator",
          Level.WARNING,
          "org.apache.zookeeper", // each connection and session, with all options
          Level.WARNING,
          "org.apache.zookeeper.ClientCnxn", // each attempt in vain to connect
          Level.SEVERE);

  @Option(
      names = "--log-level",
      paramLabel = "LEVEL",
      description = "error, warn, info, debug or trace. Default: info.")
  private @Nullable LogLevel level; // null: info

  private final List<Logger> loggers = new ArrayList<>(); // which the JVM would forget

  /** A level on the command line. */
  enum LogLevel {
    /** Failures. */
    ERROR(Level.SEVERE),
    /** Failures, and warnings. */
    WARN(Level.WARNING),
    /** These, and events of a server's life. */
    INFO(Level.INFO),
    /** These, and the reasons: from Ringfetch's own loggers, and about connections. */
    DEBUG(Level.FINE),
    /** All records of Ringfetch's own loggers, with stack traces. */
    TRACE(Level.ALL);

    private final int value;

    LogLevel(Level level) {
      value = level.intValue();
    }

    Level level() {
      return Level.parse(Integer.toString(value));
    }

    /** The level of a record. */
    static LogLevel of(Level level) {
      for (final LogLevel each : values()) {
        if (level.intValue() >= each.value) {
          return each;
        }
      }
      return TRACE;
    }
  }

  /** Sets the levels and the form of the lines, for the whole process. */
  void apply() {
    final boolean isConfigured = System.getProperty("java.util.logging.config.file") != null;
    if (!isConfigured) {
      QUIET.forEach(this::set);
    }
    final LogLevel chosen = level == null ? LogLevel.INFO : level;
    if (level != null || !isConfigured) {
      set(PREFIX, chosen.level());
      set(CONNECTIONS, chosen.level());
      set(ROOT, chosen.compareTo(LogLevel.INFO) > 0 ? Level.INFO : chosen.level());
    }
    // Each is about one connection, which it ends, and any client can cause it.
    logger(PIPELINES)
        .setFilter(
            line -> {
              line.setLevel(Level.INFO);
              return chosen.compareTo(LogLevel.INFO) >= 0;
            });
    final LogManager manager = LogManager.getLogManager();
    for (final Handler handler : Logger.getLogger(ROOT).getHandlers()) {
      if (level != null) {
        handler.setLevel(Level.ALL); // the loggers decide
      }
      // The JVM's own file names one, too.
      final String formatter = handler.getClass().getName() + ".formatter";
      if (!isConfigured || manager.getProperty(formatter) == null) {
        handler.setFormatter(new Line(chosen == LogLevel.TRACE));
      }
    }
  }

  private void set(String name, Level to) {
    logger(name).setLevel(to);
  }

  private Logger logger(String name) {
    final Logger logger = Logger.getLogger(name);
    loggers.add(logger);
    return logger;
  }

  /** The form of a line: time in UTC, level, the logger's class, and the message. */
  static final class Line extends Formatter {
    private static final DateTimeFormatter TIME =
        new DateTimeFormatterBuilder().appendInstant(3).toFormatter();

    private final boolean hasTraces; // of records that are no warnings, too

    Line(boolean hasTraces) {
      this.hasTraces = hasTraces;
    }

    @Override
    public String format(LogRecord line) {
      final String logger = String.valueOf(line.getLoggerName());
      final StringBuilder text = new StringBuilder();
      TIME.formatTo(Instant.ofEpochMilli(line.getMillis()), text);
      text.append(String.format(" %-5s ", LogLevel.of(line.getLevel())))
          .append(logger.substring(logger.lastIndexOf('.') + 1))
          .append(": ")
          .append(oneLine(formatMessage(line)));
      final Throwable thrown = line.getThrown();
      if (thrown == null) {
        return text.append(System.lineSeparator()).toString();
      }
      if (hasTraces || line.getLevel().intValue() >= Level.WARNING.intValue()) {
        final StringWriter trace = new StringWriter();
        thrown.printStackTrace(new PrintWriter(trace, true));
        return text.append(System.lineSeparator()).append(trace).toString();
      }
      return text.append(": ")
          .append(oneLine(thrown.toString()))
          .append(System.lineSeparator())
          .toString();
    }

    private static String oneLine(String text) {
      return text.strip().replaceAll("\\R", " ");
    }
  }
}

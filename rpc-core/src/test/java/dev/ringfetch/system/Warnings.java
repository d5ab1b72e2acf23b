package dev.ringfetch.system;

import java.text.MessageFormat;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * The warnings of one logger, or its lines from another level on, kept from its parents as long as
 * this is open. Thread-safe.
 */
public final class Warnings extends Handler implements AutoCloseable {
  private final Logger logger;
  private final Level least;
  private final List<LogRecord> records = new ArrayList<>(); // guarded by this

  /** Listens from now on. */
  public Warnings(Class<?> owner) {
    this(owner, Level.WARNING);
  }

  /** Listens to lines of this level and higher ones from now on. */
  public Warnings(Class<?> owner, Level least) {
    this.least = least;
    logger = Logger.getLogger(owner.getName());
    logger.setUseParentHandlers(false);
    logger.addHandler(this);
  }

  @Override
  public synchronized void publish(LogRecord line) {
    if (line.getLevel().intValue() >= least.intValue()) {
      records.add(line);
    }
  }

  /** What was logged, in its order. */
  public synchronized List<LogRecord> records() {
    return List.copyOf(records);
  }

  /** The messages of what was logged, in their order. */
  public List<String> messages() {
    return records().stream().map(Warnings::text).toList();
  }

  private static String text(LogRecord line) {
    return line.getParameters() == null
        ? line.getMessage()
        : MessageFormat.format(line.getMessage(), line.getParameters());
  }

  @Override
  public void flush() {}

  @Override
  public void close() {
    logger.removeHandler(this);
    logger.setUseParentHandlers(true);
  }
}

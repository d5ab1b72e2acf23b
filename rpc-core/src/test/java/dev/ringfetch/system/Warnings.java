package dev.ringfetch.system;

import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** The warnings of one logger, kept from its parents as long as this is open. Thread-safe. */
public final class Warnings extends Handler implements AutoCloseable {
  private final Logger logger;
  private final List<LogRecord> records = new ArrayList<>(); // guarded by this

  /** Listens from now on. */
  public Warnings(Class<?> owner) {
    logger = Logger.getLogger(owner.getName());
    logger.setUseParentHandlers(false);
    logger.addHandler(this);
  }

  @Override
  public synchronized void publish(LogRecord line) {
    if (line.getLevel().intValue() >= Level.WARNING.intValue()) {
      records.add(line);
    }
  }

  /** What was logged, in its order. */
  public synchronized List<LogRecord> records() {
    return List.copyOf(records);
  }

  /** The messages of what was logged, in their order. */
  public List<String> messages() {
    return records().stream().map(LogRecord::getMessage).toList();
  }

  @Override
  public void flush() {}

  @Override
  public void close() {
    logger.removeHandler(this);
    logger.setUseParentHandlers(true);
  }
}

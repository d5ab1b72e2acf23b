package dev.ringfetch.rdma.faults;

import dev.ringfetch.rpc.RingChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/** What channels of this process log, as long as this is open. Thread-safe. */
final class Logged extends Handler implements AutoCloseable {
  private final Logger logger = Logger.getLogger(RingChannel.class.getName());
  private final SimpleFormatter formatter = new SimpleFormatter();
  private final List<String> lines = new ArrayList<>(); // guarded by this

  Logged() {
    logger.addHandler(this);
  }

  synchronized List<String> lines() {
    return List.copyOf(lines);
  }

  @Override
  public synchronized void publish(LogRecord line) {
    lines.add(line.getLevel() + " " + formatter.formatMessage(line));
  }

  @Override
  public void flush() {}

  @Override
  public void close() {
    logger.removeHandler(this);
  }
}

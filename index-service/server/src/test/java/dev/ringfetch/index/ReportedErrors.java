package dev.ringfetch.index;

import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.function.Executable;

/** The exceptions that a class logs. */
public final class ReportedErrors {
  private ReportedErrors() {}

  /**
   * Runs something, and returns what a class has logged meanwhile.
   *
   * @return the exception of each line; null where a line has none. All lines on the caller's
   *     thread
   */
  public static List<Throwable> of(Class<?> reporting, Executable meanwhile) throws Throwable {
    final List<Throwable> reported = new ArrayList<>();
    records(reporting, meanwhile).forEach(record -> reported.add(record.getThrown()));
    return reported;
  }

  /** Runs something, and returns the lines that a class has logged meanwhile, as above. */
  public static List<String> lines(Class<?> reporting, Executable meanwhile) throws Throwable {
    return records(reporting, meanwhile).stream().map(LogRecord::getMessage).toList();
  }

  private static List<LogRecord> records(Class<?> reporting, Executable meanwhile)
      throws Throwable {
    final List<LogRecord> records = new ArrayList<>();
    final Handler handler =
        new Handler() {
          @Override
          public void publish(LogRecord record) {
            records.add(record);
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    final Logger logger = Logger.getLogger(reporting.getName());
    logger.addHandler(handler);
    logger.setUseParentHandlers(false);
    try {
      meanwhile.execute();
    } finally {
      logger.removeHandler(handler);
      logger.setUseParentHandlers(true);
    }
    return records;
  }
}

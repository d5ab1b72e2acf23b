package dev.ringfetch.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.Test;

/** The lines of a server's log. */
final class LogOptionsTest {
  private static List<String> lines(Level level, Throwable thrown, boolean hasTraces) {
    final LogRecord record = new LogRecord(level, "Transport\nfailed: {0}");
    record.setLoggerName("io.grpc.netty.NettyServerTransport");
    record.setParameters(new Object[] {7});
    record.setInstant(Instant.parse("2026-11-29T04:05:06.700Z"));
    record.setThrown(thrown);
    return new LogOptions.Line(hasTraces).format(record).lines().toList();
  }

  @Test
  void aLineHasTimeLevelLoggerAndMessage() {
    assertEquals(
        List.of("2026-11-29T04:05:06.700Z INFO  NettyServerTransport: Transport failed: 7"),
        lines(Level.INFO, null, false));
  }

  @Test
  void levelsAreThoseOfTheOption() {
    final List<Level> levels =
        List.of(
            Level.SEVERE,
            Level.WARNING,
            Level.INFO,
            Level.CONFIG,
            Level.FINE,
            Level.FINER,
            Level.FINEST);
    assertEquals(
        List.of("ERROR", "WARN", "INFO", "DEBUG", "DEBUG", "TRACE", "TRACE"),
        levels.stream().map(level -> lines(level, null, false).get(0).split(" +", -1)[1]).toList());
  }

  /** A client that sends garbage to a port causes a line, and no stack trace. */
  @Test
  void onlyWarningsHaveStackTracesUnlessAllHave() {
    final IOException thrown = new IOException("preface\nmissing");
    assertEquals(
        List.of(
            "2026-11-29T04:05:06.700Z INFO  NettyServerTransport: Transport failed: 7:"
                + " java.io.IOException: preface missing"),
        lines(Level.INFO, thrown, false));
    for (final List<String> trace :
        List.of(lines(Level.INFO, thrown, true), lines(Level.WARNING, thrown, false))) {
      assertEquals("java.io.IOException: preface", trace.get(1));
      assertTrue(trace.get(3).startsWith("\tat "), trace::toString);
    }
  }
}

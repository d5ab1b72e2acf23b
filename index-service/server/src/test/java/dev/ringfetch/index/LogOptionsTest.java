package dev.ringfetch.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

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

  @Test
  void theProcessLogsSo() {
    final LogOptions options = CommandLine.populateCommand(new LogOptions(), "--log-level=INFO");
    options.apply();
    for (final Handler handler : Logger.getLogger("").getHandlers()) {
      assertTrue(handler.getFormatter() instanceof LogOptions.Line, handler::toString);
    }
    final LogRecord malformed = new LogRecord(Level.WARNING, "it reached the tail");
    assertTrue(
        Logger.getLogger("io.netty.channel.DefaultChannelPipeline")
            .getFilter()
            .isLoggable(malformed));
    assertEquals(Level.INFO, malformed.getLevel());
    assertFalse(Logger.getLogger("io.netty.buffer").isLoggable(Level.FINE));
    assertFalse(Logger.getLogger("dev.ringfetch.index").isLoggable(Level.FINE));
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

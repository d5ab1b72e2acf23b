package dev.ringfetch.examples.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import picocli.CommandLine;

/** The demo itself checks what its readers have seen. */
@Timeout(240)
final class MarketDataTest {
  @Test
  void everyValueIsWholeAndNoneGoesBack() {
    assertEquals(
        CommandLine.ExitCode.OK,
        new CommandLine(new MarketData()).execute("--quotes", "20000", "--millis", "1500"));
  }
}

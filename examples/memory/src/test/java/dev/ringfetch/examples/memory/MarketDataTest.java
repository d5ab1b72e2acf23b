package dev.ringfetch.examples.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The demo itself checks what its readers have seen. */
@Timeout(240)
final class MarketDataTest {
  @Test
  void everyValueIsWholeAndNoneGoesBack(@TempDir Path directory) {
    assertEquals(
        CommandLine.ExitCode.OK,
        new CommandLine(new MarketData())
            .execute(
                "--quotes", "20000", "--millis", "1500", "--shm-directory", directory.toString()));
  }
}

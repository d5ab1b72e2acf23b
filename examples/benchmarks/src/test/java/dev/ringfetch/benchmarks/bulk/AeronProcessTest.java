package dev.ringfetch.benchmarks.bulk;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.examples.load.Figures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

final class AeronProcessTest {
  /** The processes check each answer themselves, and say so by failing. */
  @Tag("slow")
  @Test
  void callsAreAnsweredInEachRoundAndNothingIsLeftBehind() throws IOException {
    final Path directory;
    try (EchoPair pair = AeronProcess.start(List.of())) {
      directory = Path.of(pair.server().ask("directory").text("directory"));
      assertTrue(Files.isDirectory(directory));
      for (final int payload : new int[] {32, 65536, 1048576, 32}) { // 64 KiB are fragments
        final Figures figures = pair.round(payload, 20);
        assertTrue(figures.calls() > 0, figures::toString);
      }
    }
    assertFalse(Files.exists(directory));
  }
}

package dev.ringfetch.examples.load;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The README's pictures are what the measurements say; {@link MeasuredPlot} draws them anew. */
class MeasuredPlotTest {
  private static final Path DOCS =
      Path.of(System.getProperty("basedir", "")).resolve("../../docs").normalize();

  @Test
  void latencyIsAsMeasured() throws Exception {
    assertEquals(Files.readString(DOCS.resolve("latency.svg")), MeasuredPlot.latency(DOCS));
  }

  @Test
  void failOverIsAsMeasured() throws Exception {
    assertEquals(Files.readString(DOCS.resolve("fail-over.svg")), MeasuredPlot.failOver(DOCS));
  }
}

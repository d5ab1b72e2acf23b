package dev.ringfetch.benchmarks.parts;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.ring.RingWriter;
import java.io.IOException;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

final class PartsTest {
  private static final int ONE_WRITTEN = RingWriter.WRITTEN + QueuePair.POSTED;
  private static final int MANY = 10_000; // slots, of rings that have 4096

  @Test
  void framesGoRoundTheRingAndArriveAsTheyWere() throws IOException {
    final RingParts parts = new RingParts();
    parts.setUp();
    try {
      for (int i = 0; i < MANY; i++) {
        Arrays.fill(parts.payload(), (byte) i);
        assertEquals(ONE_WRITTEN + 1, parts.slotWrittenAndPolled(), "frame " + i);
        assertArrayEquals(parts.payload(), parts.polled());
      }
    } finally {
      parts.tearDown();
    }
  }

  @Test
  void framesThatNobodyReadsFindRoomAndAnEmptySlotStaysEmpty() throws IOException {
    final RingParts parts = new RingParts();
    parts.setUp();
    try {
      for (int i = 0; i < MANY; i++) {
        assertEquals(ONE_WRITTEN, parts.slotWritten());
        assertEquals(0, parts.nothingPolled());
      }
    } finally {
      parts.tearDown();
    }
  }

  /** The set-up compares an answer byte by byte, and each call looks at its own. */
  @ParameterizedTest
  @EnumSource
  void callsAreAnswered(CallParts.Carrier carrier) throws Exception {
    final CallParts parts = new CallParts();
    parts.carrier = carrier;
    parts.setUp();
    try {
      for (int i = 0; i < 100; i++) {
        parts.call();
      }
    } finally {
      parts.tearDown();
    }
  }

  /** In this JVM: forks are JMH's affair. */
  @ParameterizedTest
  @EnumSource
  void jmhFindsEachPartAndNoOther(Part part) throws RunnerException {
    final var results =
        new Runner(
                part.options()
                    .forks(0)
                    .warmupIterations(0)
                    .measurementIterations(1)
                    .measurementTime(TimeValue.milliseconds(5))
                    .shouldFailOnError(true)
                    .verbosity(VerboseMode.SILENT)
                    .build())
            .run();
    assertEquals(1, results.size());
    final RunResult result = results.iterator().next();
    assertTrue(Part.Figures.of(result).ns() > 0);
  }
}

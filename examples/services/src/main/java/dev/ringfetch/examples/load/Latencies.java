package dev.ringfetch.examples.load;

import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;

/**
 * The latencies of a child process's last round. They are asked for after the round was measured:
 * to hand them over costs time and memory.
 */
public final class Latencies {
  private static final String HISTOGRAM = "histogram";

  private Histogram last;

  /** Has a child process answer {@code latencies}. */
  public CommandLoop addTo(CommandLoop loop) {
    return loop.on("latencies", arguments -> answer());
  }

  /** Keeps those of a round, in nanoseconds, until they are asked for or there are others. */
  public void keep(Histogram latencies) {
    last = latencies;
  }

  private Answer answer() {
    final ByteBuffer buffer = ByteBuffer.allocate(last.getNeededByteBufferCapacity());
    final int length = last.encodeIntoCompressedByteBuffer(buffer);
    return new Answer()
        .with(HISTOGRAM, Base64.getEncoder().encodeToString(Arrays.copyOf(buffer.array(), length)));
  }

  /** What a child process has answered. */
  public static Histogram parse(Answer answer) {
    try {
      return Histogram.decodeFromCompressedByteBuffer(
          ByteBuffer.wrap(Base64.getDecoder().decode(answer.text(HISTOGRAM))), 0);
    } catch (DataFormatException e) {
      throw new IllegalArgumentException("not a histogram: " + e.getMessage(), e);
    }
  }
}

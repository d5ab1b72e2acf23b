package dev.ringfetch.examples.load;

import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;

/**
 * The latencies of a child process's last round. The parent asks for them after the round, because
 * the transfer costs time and memory.
 */
public final class Latencies {
  private static final String HISTOGRAM = "histogram";

  private Histogram last;

  /** Adds the command {@code latencies} to a child process. */
  public CommandLoop addTo(CommandLoop loop) {
    return loop.on("latencies", arguments -> answer());
  }

  /**
   * Keeps those of a round, in nanoseconds, until the parent asks for them or the next round ends.
   */
  public void keep(Histogram latencies) {
    last = latencies;
  }

  private Answer answer() {
    final ByteBuffer buffer = ByteBuffer.allocate(last.getNeededByteBufferCapacity());
    final int length = last.encodeIntoCompressedByteBuffer(buffer);
    return new Answer()
        .with(HISTOGRAM, Base64.getEncoder().encodeToString(Arrays.copyOf(buffer.array(), length)));
  }

  /** Reads the answer of a child process. */
  public static Histogram parse(Answer answer) {
    try {
      return Histogram.decodeFromCompressedByteBuffer(
          ByteBuffer.wrap(Base64.getDecoder().decode(answer.text(HISTOGRAM))), 0);
    } catch (DataFormatException e) {
      throw new IllegalArgumentException("not a histogram: " + e.getMessage(), e);
    }
  }
}

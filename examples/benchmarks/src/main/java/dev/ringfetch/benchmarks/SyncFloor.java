package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Figures;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** What the disk alone takes: writes of a sector into room that was written before, each synced. */
final class SyncFloor implements AutoCloseable {
  private static final int SECTOR = 512;
  private static final int SECTORS = 1 << 15;
  private static final long LONGEST_NS = TimeUnit.SECONDS.toNanos(60);

  private final FileChannel file;
  private final ByteBuffer sector = ByteBuffer.allocateDirect(SECTOR);
  private int next;

  /** Creates the file. */
  SyncFloor(Path path) throws IOException {
    file = FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    final ByteBuffer zeros = ByteBuffer.allocateDirect(SECTOR * SECTORS);
    while (zeros.hasRemaining()) {
      file.write(zeros);
    }
    file.force(true);
  }

  /** Writes and syncs for some time. */
  Figures run(long millis) {
    final Histogram latencies = new Histogram(LONGEST_NS, 3);
    final long beginNs = System.nanoTime();
    final long lengthNs = TimeUnit.MILLISECONDS.toNanos(millis);
    long nowNs = beginNs;
    try {
      while (nowNs - beginNs < lengthNs) {
        sector.putLong(0, nowNs).rewind();
        file.write(sector, (long) SECTOR * (next++ % SECTORS));
        file.force(false); // fdatasync
        final long afterNs = System.nanoTime();
        latencies.recordValue(Math.min(afterNs - nowNs, LONGEST_NS));
        nowNs = afterNs;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return Figures.of(latencies, nowNs - beginNs);
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}

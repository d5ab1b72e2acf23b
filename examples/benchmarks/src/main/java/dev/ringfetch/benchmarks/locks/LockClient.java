package dev.ringfetch.benchmarks.locks;

import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.examples.process.CommandLoop;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * A client process of {@code bench locks}. While it holds the lock it writes its number into a file
 * that all clients have mapped, and counts what must not be there: the number of another holder.
 */
public final class LockClient {
  private static final VarHandle LONG =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final int HOLDER = 0;
  private static final int LAST = Long.BYTES;
  private static final long LONGEST_NS = TimeUnit.SECONDS.toNanos(60);

  private final Histogram waits = new Histogram(LONGEST_NS, 3);
  private final HeldLock lock;
  private final MappedByteBuffer shared;
  private final long number;
  private long askedNs;
  private long passes;
  private long broken;

  private LockClient(HeldLock lock, MappedByteBuffer shared, long number) {
    this.lock = lock;
    this.shared = shared;
    this.number = number;
  }

  /**
   * Starts a client.
   *
   * @param target address of the lock's server, or path of its socket.
   * @param shared the file that all clients of the lock map.
   * @param number of the client, from 1 on.
   */
  public static ChildProcess start(
      List<String> flags, LockKind kind, String target, Path shared, int number)
      throws IOException {
    return ChildProcess.start(
        flags,
        LockClient.class,
        List.of(kind.name(), target, shared.toString(), Integer.toString(number)));
  }

  /** Runs the process. */
  public static void main(String[] args) throws Exception {
    try (HeldLock lock = LockKind.valueOf(args[0]).open(args[1]);
        FileChannel file =
            FileChannel.open(
                Path.of(args[2]),
                StandardOpenOption.CREATE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
      final MappedByteBuffer shared = file.map(MapMode.READ_WRITE, 0, 2 * Long.BYTES);
      final LockClient client = new LockClient(lock, shared, Long.parseLong(args[3]));
      new CommandLoop().on("run", arguments -> client.run(Long.parseLong(arguments.get(0)))).run();
    }
  }

  /** Takes and releases the lock again and again. */
  private Answer run(long millis) {
    waits.reset();
    passes = 0;
    broken = 0;
    final long startNs = System.nanoTime();
    final long limitNs = TimeUnit.MILLISECONDS.toNanos(millis);
    do {
      askedNs = System.nanoTime();
      try {
        lock.holding().hold(this::work);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } catch (Exception e) {
        throw new IllegalStateException("the lock cannot be taken", e);
      }
    } while (System.nanoTime() - startNs < limitNs);
    return Figures.of(waits, System.nanoTime() - startNs)
        .answer()
        .with("passes", passes)
        .with("broken", broken);
  }

  private void work() {
    waits.recordValue(System.nanoTime() - askedNs);
    broken += LONG.compareAndSet(shared, HOLDER, 0L, number) ? 0 : 1;
    passes += (long) LONG.getVolatile(shared, LAST) == number ? 0 : 1;
    LONG.setVolatile(shared, LAST, number);
    broken += LONG.compareAndSet(shared, HOLDER, number, 0L) ? 0 : 1;
  }
}

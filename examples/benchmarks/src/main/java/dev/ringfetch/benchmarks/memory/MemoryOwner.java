package dev.ringfetch.benchmarks.memory;

import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;
import dev.ringfetch.memory.Broadcast;
import dev.ringfetch.memory.LockHold;
import dev.ringfetch.memory.OwnedValue;
import dev.ringfetch.memory.OwnerLock;
import dev.ringfetch.memory.Regions;
import dev.ringfetch.memory.RegionsContext;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import io.aeron.Aeron;
import io.aeron.ExclusivePublication;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.agrona.concurrent.SleepingMillisIdleStrategy;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.AtomicCounter;

/** The owner's process of {@code bench memory}, with an Aeron driver to compare with. */
public final class MemoryOwner {
  /** An Aeron stream, and the type of an Aeron counter. */
  static final int AERON_ID = 1001;

  /** The ring of messages, and the term of Aeron's stream. */
  static final int RING_LENGTH = 1 << 20;

  private static final Duration WAIT = Duration.ofSeconds(30);
  private static final int END_SECONDS = 10;

  private final OwnedValue<Sample> value;
  private final Broadcast<Sample> broadcast;
  private final OwnerLock lock;
  private final AtomicCounter counter;
  private final ExclusivePublication publication;
  private final UnsafeBuffer message = new UnsafeBuffer(ByteBuffer.allocateDirect(Sample.LENGTH));
  private final ReentrantLock threadLock = new ReentrantLock();
  private long written;

  private MemoryOwner(Regions regions, Aeron aeron) {
    this.value = regions.value("value", Sample.CODEC, Sample.LENGTH);
    this.broadcast = regions.broadcast("broadcast", Sample.CODEC, RING_LENGTH);
    this.lock = regions.lock("lock");
    this.counter = aeron.addCounter(AERON_ID, "bench");
    this.publication = aeron.addExclusivePublication(Aeron.Context.IPC_CHANNEL, AERON_ID);
    value.set(Sample.of(1));
    final long unused = regions.value("word", Sample.WORD, Long.BYTES).set(1L);
  }

  /** Runs the process. The argument is the directory of shared memory and of Aeron's driver. */
  public static void main(String[] args) throws Exception {
    final Path directory = Path.of(args[0]);
    final MediaDriver.Context context =
        new MediaDriver.Context()
            .aeronDirectoryName(directory.resolve("aeron").toString())
            .threadingMode(ThreadingMode.SHARED)
            .sharedIdleStrategy(new SleepingMillisIdleStrategy(1))
            .ipcTermBufferLength(RING_LENGTH)
            .dirDeleteOnShutdown(true);
    final RingServerBuilder builder = RingServerBuilder.forPort(0).shmDirectory(directory);
    final RingServer server;
    try (MediaDriver driver = MediaDriver.launchEmbedded(context);
        Aeron aeron =
            Aeron.connect(new Aeron.Context().aeronDirectoryName(driver.aeronDirectoryName()));
        Regions regions = Regions.on(builder, new RegionsContext().shmDirectory(directory))) {
      final MemoryOwner owner = new MemoryOwner(regions, aeron);
      server = builder.build().start();
      System.out.println(server.getPort());
      owner.serve();
    }
    server.shutdown().awaitTermination(END_SECONDS, TimeUnit.SECONDS);
  }

  private void serve() throws IOException {
    new CommandLoop()
        .on("value", arguments -> write(arguments, true))
        .on("counter", arguments -> write(arguments, false))
        .on("broadcast", arguments -> publish(arguments, true))
        .on("aeron", arguments -> publish(arguments, false))
        .on("lock", arguments -> measure(arguments, this::lock))
        .on("thread-lock", arguments -> measure(arguments, this::lockThread))
        .run();
  }

  /** Writes for some milliseconds, a write a microsecond at the most. */
  private Answer write(List<String> arguments, boolean ours) {
    final long limitNs = TimeUnit.MILLISECONDS.toNanos(Long.parseLong(arguments.get(0)));
    final long startNs = System.nanoTime();
    long writes = 0;
    long nowNs;
    while ((nowNs = System.nanoTime()) - startNs < limitNs) {
      if (ours) {
        value.set(Sample.of(++written));
      } else {
        counter.setRelease(++written);
      }
      writes++;
      while (System.nanoTime() - nowNs < 1000) {
        Thread.onSpinWait();
      }
    }
    return new Answer().with("writes", writes);
  }

  /** Publishes so many messages, which fit into the ring. */
  private Answer publish(List<String> arguments, boolean ours) {
    final int count = Integer.parseInt(arguments.get(0));
    final long startNs = System.nanoTime();
    for (int i = 0; i < count; i++) {
      if (ours) {
        broadcast.publish(Sample.of(i));
      } else {
        message.putLong(0, i);
        while (publication.offer(message) < 0) {
          Thread.onSpinWait();
        }
      }
    }
    return new Answer().with("ns", (double) (System.nanoTime() - startNs) / count);
  }

  private static Answer measure(List<String> arguments, Runnable operation) {
    return Measured.operations(Long.parseLong(arguments.get(0)), operation);
  }

  private void lock() {
    try (LockHold hold = lock.acquire(WAIT).orElseThrow()) {
      written += hold.fence() & 1;
    }
  }

  private void lockThread() {
    threadLock.lock();
    try {
      written++;
    } finally {
      threadLock.unlock();
    }
  }
}

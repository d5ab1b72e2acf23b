package dev.ringfetch.counters;

import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Copies counters into the file of the process, in a daemon thread of its own: ten times a second
 * while something is counted, and not at all while nothing is. Then it sleeps until somebody has
 * counted something.
 *
 * <p>Without a file, because the directory is not to be had or full, everything else goes on.
 */
final class Publisher implements Runnable {
  private static final Logger LOGGER = System.getLogger(Publisher.class.getName());
  private static final long INTERVAL_NS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long CLOSE_TIMEOUT_MS = 5_000;

  private final Counters counters;
  private final Path directory;
  private final SnapshotEncoder encoder = new SnapshotEncoder(CounterFileDescriptor.MAX_RECORDS);
  private final Thread thread = new Thread(this, "ringfetch-counters");

  /** A process that ends without a shutdown takes its file along, too, unless it is killed. */
  private final Thread hook = new Thread(this::end, "ringfetch-counters-end");

  private volatile boolean asleep;
  private volatile boolean closed;

  // The thread's.
  private CounterFiles.Created file;
  private boolean complained;

  Publisher(Counters counters, Path directory) {
    this.counters = counters;
    this.directory = directory;
  }

  void start() {
    thread.setDaemon(true);
    try {
      Runtime.getRuntime().addShutdownHook(hook); // first: the file may be there in a moment
      thread.start();
    } catch (IllegalStateException e) {
      LOGGER.log(Level.DEBUG, "the process ends, and has no counters any more", e);
    }
  }

  /** Something was counted. Any thread; after a fence. */
  void changed() {
    if (asleep) {
      asleep = false;
      LockSupport.unpark(thread);
    }
  }

  /** Ends the thread, and removes the file. */
  void close() {
    end();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      LOGGER.log(Level.DEBUG, "the process ends", e);
    }
  }

  private void end() {
    closed = true;
    LockSupport.unpark(thread);
    if (thread == Thread.currentThread()) { // a listener has closed the last channel
      return;
    }
    boolean interrupted = false;
    try {
      thread.join(CLOSE_TIMEOUT_MS);
    } catch (InterruptedException e) {
      interrupted = true;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void run() {
    try {
      create();
      while (!closed) {
        if (!publish()) {
          sleep();
        }
        pause();
      }
      publish();
    } catch (RuntimeException | Error e) {
      LOGGER.log(Level.WARNING, "counters are not published any more", e);
    } finally {
      if (file != null) {
        file.close();
      }
    }
  }

  /**
   * Announces the sleep first, then looks once more: a counting thread counts first, then looks for
   * a sleeper.
   */
  private void sleep() {
    asleep = true;
    VarHandle.fullFence();
    if (!publish()) {
      while (asleep && !closed) {
        LockSupport.park(this);
      }
    }
    asleep = false;
  }

  private void pause() {
    final long startNs = System.nanoTime();
    long leftNs = INTERVAL_NS;
    while (leftNs > 0 && !closed) {
      LockSupport.parkNanos(this, leftNs);
      leftNs = INTERVAL_NS - (System.nanoTime() - startNs);
    }
  }

  private void create() {
    final CounterFiles files = CounterFiles.find();
    if (files == null) {
      return;
    }
    try {
      file = files.create(directory);
      final ByteBuffer header =
          ByteBuffer.allocate(CounterFileDescriptor.AREAS_START).order(ByteOrder.LITTLE_ENDIAN);
      final ProcessHandle process = ProcessHandle.current();
      header.putLong(CounterFileDescriptor.MAGIC_OFFSET, CounterFileDescriptor.MAGIC);
      header.putInt(CounterFileDescriptor.VERSION_OFFSET, CounterFileDescriptor.VERSION);
      header.putLong(CounterFileDescriptor.PID_OFFSET, process.pid());
      header.putLong(
          CounterFileDescriptor.STARTED_OFFSET,
          process.info().startInstant().map(Instant::toEpochMilli).orElse(0L));
      writeFully(header, 0);
    } catch (IOException e) {
      complain(e);
    }
  }

  /** Writes a snapshot into the area that is not the newest, then says that it is. */
  private boolean publish() {
    final ByteBuffer snapshot = encoder.encode(counters);
    if (snapshot == null) {
      return false;
    }
    if (file != null) {
      try {
        writeFully(snapshot, CounterFileDescriptor.areaOffset(encoder.sequence()));
        final ByteBuffer newest = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        newest.putLong(0, encoder.sequence());
        writeFully(newest, CounterFileDescriptor.NEWEST_OFFSET);
      } catch (IOException e) { // full, perhaps; the next time there may be room
        complain(e);
      }
    }
    Counters.tellListeners();
    return true;
  }

  private void writeFully(ByteBuffer source, long offset) throws IOException {
    final FileChannel channel = file.channel();
    long position = offset;
    while (source.hasRemaining()) {
      position += channel.write(source, position);
    }
  }

  /**
   * Logs at a low level: users that miss the counters will look for the reason, and calls are not
   * affected.
   */
  private void complain(IOException e) {
    if (!complained) {
      complained = true;
      LOGGER.log(Level.DEBUG, "counters cannot be read from outside: " + directory, e);
    }
  }
}

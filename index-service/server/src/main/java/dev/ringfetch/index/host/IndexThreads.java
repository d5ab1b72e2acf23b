package dev.ringfetch.index.host;

import dev.ringfetch.index.partition.Handover;
import java.util.concurrent.Executor;

/**
 * The threads on which work on indexes goes on that must not keep the thread of a call. They start
 * with their first task.
 *
 * <p>Safe for use by many threads.
 */
public final class IndexThreads implements AutoCloseable {
  /**
   * Threads for calls for ranges, and for kernels: they take processor time alone, and leave half
   * of it to others.
   */
  private static final int SCANNERS =
      Math.max(1, Math.min(4, Runtime.getRuntime().availableProcessors() / 2));

  private final BackgroundThreads growth = new BackgroundThreads("index-memory-growth");
  private final BackgroundThreads writer = new BackgroundThreads("index-writer");
  private final BackgroundThreads scanners = new BackgroundThreads("index-scanner", SCANNERS);
  private final BackgroundThreads kernels = new BackgroundThreads("index-kernel", SCANNERS);
  private final BackgroundThreads watcher = new BackgroundThreads("index-watcher");
  private final BackgroundThreads historian = new BackgroundThreads("index-history");
  private final Handover handover = new Handover(writer, Handover.CYCLES_DEFAULT);

  /** Where memory is made before it is needed. */
  public Executor growth() {
    return growth;
  }

  /** Where a partition's owner leaves the rest of its work. */
  public Handover handover() {
    return handover;
  }

  /** Where calls for ranges go on, a page at a time. */
  public Executor scanners() {
    return scanners;
  }

  /** Where kernels run that read many entries. */
  public Executor kernels() {
    return kernels;
  }

  /** Where watches go on: one thread, which never waits. */
  public Executor watcher() {
    return watcher;
  }

  /** Where the files of the data directory are read: one thread, which waits for the disk. */
  public Executor historian() {
    return historian;
  }

  /** Carries the waiting tasks out, each kind for a few seconds at most. */
  @Override
  public void close() {
    growth.close();
    scanners.close(); // before what it may hand over to
    kernels.close();
    watcher.close();
    historian.close();
    writer.close();
  }
}

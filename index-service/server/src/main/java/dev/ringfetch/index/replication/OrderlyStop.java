package dev.ringfetch.index.replication;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.GroupState;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.TreeMap;
import org.agrona.ErrorHandler;
import org.jspecify.annotations.Nullable;

/**
 * The orderly end of a node's groups in memory, one after the other: each replica ends, and its
 * content is written to a record, with which the next process can lead if no other node has
 * continued the group.
 *
 * <p>From its begin on the node joins no group, and takes none over alone; otherwise it continues
 * meanwhile. A duty cycle of any one thread, which waits for the disk.
 */
public final class OrderlyStop {
  private final Replicas replicas;
  private final StopRecords records;
  private final Runnable wake;
  private final ErrorHandler errors;
  private final Deque<Replica> left;
  private @Nullable StopCopy copy; // of the first one; null before it begins
  private StopRecords.Writer writer;
  private int written;

  /**
   * Begins the end, on the thread of {@link Replicas#work}.
   *
   * @param wake is run, on any thread, when there is something to do
   * @param errors is told which group has no record, and why
   */
  public OrderlyStop(Replicas replicas, StopRecords records, Runnable wake, ErrorHandler errors) {
    this.replicas = replicas;
    this.records = records;
    this.wake = wake;
    this.errors = errors;
    final Map<Long, Replica> inMemory = new TreeMap<>();
    replicas.endInOrder().stream()
        .filter(replica -> !replica.isOnDisk())
        .forEach(replica -> inMemory.put(replica.group(), replica));
    left = new ArrayDeque<>(inMemory.values());
  }

  /** Number of records that were written. */
  public int written() {
    return written;
  }

  /** Whether all is done. */
  public boolean isDone() {
    return left.isEmpty();
  }

  /** Does a step; returns whether there may be another one at once. */
  public boolean work() {
    if (left.isEmpty()) {
      return false;
    }
    final Replica replica = left.peek();
    try {
      return step(replica);
    } catch (IOException | RuntimeException | OutOfMemoryError e) {
      errors.onError(
          new IOException("no record of the stop: " + name(replica) + ": " + e.getMessage(), e));
      if (copy != null) {
        copy.giveUp();
      }
      next();
      return true;
    }
  }

  private static String name(Replica replica) {
    final GroupState group = replica.status().group();
    return (group == null ? "" : "index=" + group.getIndex() + " ") + "group=" + replica.group();
  }

  private boolean step(Replica replica) throws IOException {
    if (copy == null) {
      copy = replica.stop(wake);
    }
    final ByteString piece = copy.take();
    if (piece != null) {
      if (writer == null) {
        writer = records.create(replica.group());
      }
      writer.add(piece.toByteArray());
    } else if (copy.failure() != null) {
      throw new IOException(copy.failure());
    } else if (copy.isDone()) {
      if (writer != null) {
        if (!replicas.claimStopRecord(replica.group())) {
          return false; // until the disk has removed that of an earlier process
        }
        writer.finish();
        written++;
      }
      next();
    } else {
      return false;
    }
    return true;
  }

  private void next() {
    left.poll();
    copy = null;
    if (writer != null) {
      try {
        writer.close();
      } catch (IOException e) { // it is not finished, and does not count
        errors.onError(e);
      }
      writer = null;
    }
  }
}

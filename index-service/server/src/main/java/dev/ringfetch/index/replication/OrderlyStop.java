package dev.ringfetch.index.replication;

import static java.util.Comparator.comparing;
import static java.util.stream.Collectors.toCollection;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.journal.StopRecords;
import dev.ringfetch.index.v1.GroupState;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.agrona.ErrorHandler;

/**
 * The orderly end of a node's groups. First those in memory, one after the other: each replica
 * ends, and its content is written to a record, with which the next process can lead if no other
 * node has continued the group. Then those on the disk, all at once: each replica ends when the
 * disk has got what was committed without it.
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
  private final Map<Replica, StopCopy> copies = new HashMap<>(); // that have begun
  private StopRecords.Writer writer;
  private int written;

  /**
   * Begins the end, on the thread of {@link Replicas#work}.
   *
   * @param wake is run, on any thread, when there is something to do
   * @param errors is told of which group something is lost, and why
   */
  public OrderlyStop(Replicas replicas, StopRecords records, Runnable wake, ErrorHandler errors) {
    this.replicas = replicas;
    this.records = records;
    this.wake = wake;
    this.errors = errors;
    left =
        replicas.endInOrder().stream()
            .sorted(comparing(Replica::isOnDisk).thenComparing(Replica::group))
            .collect(toCollection(ArrayDeque::new));
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
      errors.onError(new IOException(name(replica) + ": " + e.getMessage(), e));
      final StopCopy copy = copies.get(replica);
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
    if (!copies.containsKey(replica)) {
      left.stream()
          .filter(each -> each == replica || replica.isOnDisk())
          .forEach(each -> copies.put(each, each.stop(wake)));
    }
    final StopCopy copy = copies.get(replica);
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
    copies.remove(left.poll());
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

package dev.ringfetch.index.replication;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.journal.SnapshotSink;
import dev.ringfetch.index.journal.SnapshotSource;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The source of a snapshot of a node's disk: all groups with records on the disk, one after the
 * other. A later group begins after the snapshot's position in the journal.
 *
 * <p>Used by one thread at a time.
 */
public final class ReplicaSnapshots implements SnapshotSource {
  private final Replicas replicas;
  private final Runnable wake;
  private final Runnable removing;
  private final List<GroupCopy> copied = new ArrayList<>();
  private List<Replica> groups = List.of();
  private int number;
  private @Nullable GroupCopy copy; // of the present group; null before it begins

  /**
   * Creates the source.
   *
   * @param wake is run, on any thread, when there may be more to add
   * @param removing is run before segments of the journal are removed
   */
  public ReplicaSnapshots(Replicas replicas, Runnable wake, Runnable removing) {
    this.replicas = replicas;
    this.wake = wake;
    this.removing = removing;
  }

  @Override
  public void begin() {
    groups = replicas.onDisk();
    number = 0;
    copy = null;
    copied.clear();
  }

  @Override
  public Progress add(SnapshotSink sink) throws IOException {
    if (number == groups.size()) {
      return Progress.DONE;
    }
    final Replica replica = groups.get(number);
    if (copy == null) {
      copy = replica.copy(wake);
    }
    final ByteString piece = copy.take();
    if (piece != null) {
      sink.copyAll(piece.toByteArray());
    } else if (copy.failure() != null) {
      throw new IOException("no snapshot: " + copy.failure() + ": group=" + replica.group());
    } else if (copy.isDone()) {
      copied.add(copy);
      copy = null;
      number++;
    } else {
      return Progress.WAITING;
    }
    return Progress.MORE;
  }

  @Override
  public boolean isDurable() {
    return copied.stream().allMatch(GroupCopy::isDurable);
  }

  @Override
  public void removing() {
    removing.run();
  }
}

package dev.ringfetch.index.node;

import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.replication.Replica;
import dev.ringfetch.index.replication.Replicas;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.IndexKind;
import io.grpc.Status;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The start of a node that is alone in its cluster for good: drops the indexes that ended with an
 * earlier process, creates the index {@value ServedIndex#DEFAULT_NAME}, and ends when the node
 * leads all that it has.
 *
 * <p>Of the node's thread.
 */
public final class OnlyNode {
  private static final Logger LOGGER = System.getLogger(OnlyNode.class.getName());

  /** Longer than a sync on a busy disk: a start does not wait for one that hangs. */
  private static final int LIMIT_SECONDS = 60;

  private enum State {
    /** The groups are not known yet. */
    BEGINNING,
    /** Ended indexes are being dropped, and the default one created. */
    CHANGING,
    /** Groups are not led yet. */
    LEADING,
    STARTED
  }

  private final Replicas replicas;
  private final Coordinator coordinator;
  private final IndexCreations creations;
  private final Runnable started;
  private final long limitNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
  private State state = State.BEGINNING;
  private int dropping;

  /**
   * Creates it.
   *
   * @param started is run once, when all indexes take calls that the node has, or after {@value
   *     #LIMIT_SECONDS} s: an index whose disk does not answer takes them later
   */
  public OnlyNode(
      Replicas replicas, Coordinator coordinator, IndexCreations creations, Runnable started) {
    this.replicas = replicas;
    this.coordinator = coordinator;
    this.creations = creations;
    this.started = started;
  }

  /** Does what is due. */
  public void work() {
    if (state == State.STARTED) {
      return;
    }
    if (state == State.BEGINNING && replicas.isCoordinated()) {
      state = State.CHANGING;
      dropEnded();
    }
    if ((state == State.LEADING && replicas.all().stream().allMatch(OnlyNode::isLed))
        || System.nanoTime() - limitNs >= 0) {
      state = State.STARTED;
      started.run();
    }
  }

  private static boolean isLed(Replica replica) {
    return replica.status().readable() != null;
  }

  private void dropEnded() {
    final List<GroupState> ended = replicas.states().stream().filter(this::hasEnded).toList();
    dropping = ended.size();
    for (final GroupState group : ended) {
      coordinator.drop(
          group,
          (result, newest) -> {
            LOGGER.log(
                result == Coordinator.Result.DONE ? Level.DEBUG : Level.WARNING,
                "an index at level memory ended with its process: index={0} dropped={1}",
                group.getIndex(),
                result);
            dropping--;
            createDefault();
          });
    }
    createDefault();
  }

  /**
   * Whether nothing is left of an index: it was in the memory of an earlier process alone, which
   * was killed after it served. Before that it leaves the file of the process that ended in order.
   */
  private boolean hasEnded(GroupState group) {
    final IndexDefinition definition = IndexDefinition.of(group);
    return definition != null
        && definition.durability() == Durability.MEMORY
        && replicas.find(group.getGroup()) == null;
  }

  private void createDefault() {
    if (dropping > 0) {
      return;
    }
    creations.create(
        CreateIndexRequest.newBuilder().setKind(IndexKind.HASH).build(),
        (incarnation, created, failure) -> {
          if (failure != null && failure.getStatus().getCode() != Status.Code.ALREADY_EXISTS) {
            LOGGER.log(Level.WARNING, "no index " + ServedIndex.DEFAULT_NAME, failure);
          }
          state = state == State.STARTED ? state : State.LEADING;
        });
  }
}

package dev.ringfetch.index.node;

import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.replication.Replicas;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.IndexKind;
import io.grpc.Status;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The start of a node that is alone in its cluster for good: drops the indexes that ended with an
 * earlier process, and creates the index {@value ServedIndex#DEFAULT_NAME}.
 *
 * <p>Of the node's thread.
 */
public final class OnlyNode {
  private static final Logger LOGGER = System.getLogger(OnlyNode.class.getName());

  private final Replicas replicas;
  private final Coordinator coordinator;
  private final IndexCreations creations;
  private final @Nullable StopFiles stops;

  /**
   * Creates it.
   *
   * @param stops null: the node has no data directory
   */
  public OnlyNode(
      Replicas replicas,
      Coordinator coordinator,
      IndexCreations creations,
      @Nullable StopFiles stops) {
    this.replicas = replicas;
    this.coordinator = coordinator;
    this.creations = creations;
    this.stops = stops;
  }

  /**
   * Begins, once the coordinator is reached.
   *
   * @param started is run when the index {@value ServedIndex#DEFAULT_NAME} takes calls, or cannot
   */
  public void start(Runnable started) {
    final List<GroupState> ended = replicas.states().stream().filter(this::hasEnded).toList();
    final AtomicInteger left = new AtomicInteger(ended.size());
    for (final GroupState state : ended) {
      coordinator.drop(
          state,
          (result, newest) -> {
            LOGGER.log(
                result == Coordinator.Result.DONE ? Level.INFO : Level.WARNING,
                "an index at level memory ended with its process: index={0} dropped={1}",
                state.getIndex(),
                result);
            if (left.decrementAndGet() == 0) {
              createDefault(started);
            }
          });
    }
    if (ended.isEmpty()) {
      createDefault(started);
    }
  }

  /**
   * Whether nothing is left of an index: it was in the memory of an earlier process alone, of whose
   * end no record was read, nor is there one that cannot be read.
   */
  private boolean hasEnded(GroupState state) {
    final IndexDefinition definition = IndexDefinition.of(state);
    return definition != null
        && definition.durability() == Durability.MEMORY
        && replicas.find(state.getGroup()) == null
        && (stops == null || stops.unread(state) == null);
  }

  private void createDefault(Runnable started) {
    creations.create(
        ServedIndex.DEFAULT_NAME,
        IndexKind.HASH,
        Durability.DURABILITY_UNSPECIFIED,
        0,
        (incarnation, created, failure) -> {
          if (failure != null && failure.getStatus().getCode() != Status.Code.ALREADY_EXISTS) {
            LOGGER.log(Level.WARNING, "no index " + ServedIndex.DEFAULT_NAME, failure);
          }
          started.run();
        });
  }
}

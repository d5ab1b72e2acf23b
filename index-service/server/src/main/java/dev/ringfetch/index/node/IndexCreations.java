package dev.ringfetch.index.node;

import dev.ringfetch.index.call.Outcomes;
import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.replication.Replica;
import dev.ringfetch.index.replication.ReplicaState;
import dev.ringfetch.index.replication.Replicas;
import dev.ringfetch.index.v1.Appends;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.Node;
import io.grpc.Status;
import io.grpc.StatusException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.ListIterator;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The creations and removals of a cluster's indexes that are requested of one node. A creation ends
 * when the index's group serves somewhere, or when too much time has passed.
 *
 * <p>Requests come on any threads; the node's thread carries them out.
 */
public final class IndexCreations {
  /** The most requests that wait for one index, or for any. */
  private static final int MAX_WAITING = ServedIndex.QUEUE_CAPACITY;

  /** How long a creation or removal may take before it is given up. */
  private static final long REQUEST_LIMIT_NS = TimeUnit.SECONDS.toNanos(10);

  private final Replicas replicas;
  private final Coordinator coordinator;
  private final CatchUp catchUp;
  private final NewGroups groups;
  private final int replicaCount;
  private final Executor node;

  // Of the node's thread.

  /** Requests for indexes whose creation the coordinator has not answered, by name. */
  private final Map<String, List<Request>> asked = new HashMap<>();

  /** Creations whose groups do not serve yet. */
  private final List<Request> waiting = new ArrayList<>();

  /** Removals whose groups this node has not forgotten yet. */
  private final List<Dropped> dropped = new ArrayList<>();

  /**
   * A removal that waits until the index takes no calls here.
   *
   * @param replica of this node; null: it has none
   */
  private record Dropped(long group, @Nullable Replica replica, Runnable told) {
    boolean isForgotten(Replicas replicas) {
      return replicas.state(group) == null
          && (replica == null || replica.status().state() == ReplicaState.STOPPED);
    }
  }

  /**
   * A creation that waits until the group serves.
   *
   * @param seen whether the node knew of the group
   */
  private record Request(
      CreateIndexRequest wanted,
      boolean done,
      boolean seen,
      IndexCatalog.Created told,
      long endNs) {
    Request answered(boolean isCreated, long waitsUntilNs) {
      return new Request(wanted, isCreated, false, told, waitsUntilNs);
    }

    Request seen(boolean known) {
      return new Request(wanted, done, known, told, endNs);
    }
  }

  /**
   * Creates it.
   *
   * @param replicaCount nodes that an index is to have, unless its creation says
   * @param node runs tasks on the node's thread
   */
  public IndexCreations(
      Replicas replicas,
      Coordinator coordinator,
      CatchUp catchUp,
      NewGroups groups,
      int replicaCount,
      Executor node) {
    this.replicas = replicas;
    this.coordinator = coordinator;
    this.catchUp = catchUp;
    this.groups = groups;
    this.replicaCount = replicaCount;
    this.node = node;
  }

  /** As {@link IndexCatalog#create}. */
  public void create(CreateIndexRequest wanted, IndexCatalog.Created told) {
    final String index = wanted.getIndex();
    final int count = wanted.getReplicas();
    execute(
        new Request(
            wanted.toBuilder()
                .setIndex(index.isEmpty() ? ServedIndex.DEFAULT_NAME : index)
                .setReplicas(count == 0 ? replicaCount : count)
                .build(),
            false,
            false,
            told,
            System.nanoTime() + REQUEST_LIMIT_NS));
  }

  private void execute(Request request) {
    node.execute(
        () -> {
          try {
            begin(request);
          } catch (RuntimeException e) {
            request.told.onEnd(0, false, noAnswer(request.wanted.getIndex()));
            throw e;
          }
        });
  }

  private void begin(Request request) {
    final CreateIndexRequest wanted = request.wanted;
    final IndexCatalog.Created told = request.told;
    final String index = wanted.getIndex();
    final GroupState known = replicas.state(index);
    final List<Request> others = known != null ? waiting : asked.get(index);
    if (waiting.size() >= MAX_WAITING || (others != null && others.size() >= MAX_WAITING)) {
      told.onEnd(
          0,
          false,
          Outcomes.overloaded("too many calls wait for an index: limit=" + MAX_WAITING)
              .asException());
      return;
    }
    if (others != null) {
      others.add(request.seen(known != null));
      return;
    }
    if (replicas.states().size() + asked.size() >= ServedIndex.MAX_INDEXES) {
      told.onEnd(
          0,
          false,
          Status.RESOURCE_EXHAUSTED
              .withDescription("too many indexes: limit=" + ServedIndex.MAX_INDEXES)
              .asException());
      return;
    }
    final Durability durability = groups.durability(wanted.getDurability());
    final List<Node> able = groups.able(durability);
    if (able.isEmpty() && !replicas.living().isEmpty()) {
      told.onEnd(
          0,
          false,
          Status.FAILED_PRECONDITION
              .withDescription("no node has a data directory: durability=" + durability)
              .asException());
      return;
    }
    final List<Node> chosen = Placement.choose(able, index, wanted.getReplicas());
    if (chosen.isEmpty()) {
      told.onEnd(0, false, noAnswer(index));
      return;
    }
    final GroupState first =
        groups.first(wanted.toBuilder().setDurability(durability).build(), chosen);
    asked.put(index, new ArrayList<>(List.of(request)));
    try {
      coordinator.create(first, (result, state) -> onAnswer(index, result, state));
    } catch (RuntimeException e) { // no answer comes
      asked.remove(index);
      throw e;
    }
  }

  /** The coordinator has answered, or cannot be asked any more: then the index may be there. */
  private void onAnswer(String index, Coordinator.Result result, @Nullable GroupState state) {
    boolean isCreated = result == Coordinator.Result.DONE; // by the first request
    for (final Request request : asked.remove(index)) {
      waiting.add(request.answered(isCreated, state == null ? System.nanoTime() : request.endNs));
      isCreated = false;
    }
  }

  /** As {@link IndexCatalog#drop}. */
  public void drop(String index, long incarnation, IndexCatalog.Created told) {
    drop(index, incarnation, told, System.nanoTime() + REQUEST_LIMIT_NS);
  }

  private void drop(String index, long incarnation, IndexCatalog.Created told, long endNs) {
    final Consumer<StatusException> failed = failure -> told.onEnd(0, false, failure);
    if (!replicas.isCoordinated()) {
      failed.accept(noAnswer(index));
      return;
    }
    catchUp.afterSync( // this node may not know of the index yet
        () ->
            node.execute(
                () -> CatchUp.carryOut(() -> dropKnown(index, incarnation, told, endNs), failed)),
        failed);
  }

  private void dropKnown(String index, long incarnation, IndexCatalog.Created told, long endNs)
      throws StatusException {
    final GroupState known = replicas.state(index.isEmpty() ? ServedIndex.DEFAULT_NAME : index);
    if (known == null) {
      told.onEnd(0, false, null);
      return;
    }
    final IndexDefinition definition = IndexDefinition.of(known);
    final long there = definition == null ? 0 : definition.incarnation(); // of a later commit
    if (incarnation != 0 && incarnation != there) {
      throw Status.FAILED_PRECONDITION
          .withDescription(
              "the index has another incarnation: index="
                  + index
                  + " incarnation="
                  + there
                  + " expected="
                  + incarnation)
          .asException();
    }
    coordinator.drop(
        known,
        (result, state) -> {
          if (result == Coordinator.Result.DONE) {
            dropped.add(
                new Dropped(
                    known.getGroup(),
                    replicas.find(known.getGroup()),
                    () -> told.onEnd(there, true, null)));
          } else if (result == Coordinator.Result.CONFLICT && System.nanoTime() - endNs < 0) {
            drop(index, incarnation, told, endNs); // the group has changed, or is gone
          } else {
            told.onEnd(0, false, noAnswer(index));
          }
        });
  }

  /** Whether a group serves; where this node leads it, its index takes calls then. */
  private boolean serves(GroupState group) {
    if (!group.hasEstablished() || group.hasWon()) {
      return false;
    }
    final Replica own = replicas.find(group.getGroup());
    final GroupState seen = own == null ? group : own.status().group();
    return seen != null && seen.getVersion() >= group.getVersion();
  }

  private static void tellCreated(Request request, GroupState state) {
    final IndexDefinition definition = IndexDefinition.of(state);
    final CreateIndexRequest wanted = request.wanted;
    String difference = null;
    if (wanted.getKind() != IndexKind.INDEX_KIND_UNSPECIFIED
        && wanted.getKind() != definition.kind()) {
      difference = "is of another kind: index=" + wanted.getIndex() + " kind=" + definition.kind();
    } else if (wanted.getDurability() != Durability.DURABILITY_UNSPECIFIED
        && wanted.getDurability() != definition.durability()) {
      difference =
          "has another durability: index="
              + wanted.getIndex()
              + " durability="
              + definition.durability();
    } else if (wanted.hasAppends() && !wanted.getAppends().equals(definition.appends())) {
      difference = appendsOf(wanted.getIndex(), definition.appends());
    }
    if (difference != null) {
      request.told.onEnd(
          0, false, Status.ALREADY_EXISTS.withDescription("the index " + difference).asException());
    } else {
      request.told.onEnd(definition.incarnation(), request.done, null);
    }
  }

  private static String appendsOf(String index, @Nullable Appends appends) {
    return appends == null
        ? "was not created for appends: index=" + index
        : "has other limits of what it keeps: index="
            + index
            + " retention_ms="
            + appends.getRetentionMs()
            + " retention_bytes="
            + appends.getRetentionBytes();
  }

  /** Ends the creations whose groups serve now, or that took too long; of the node's thread. */
  public void tellWaiting() {
    if (!dropped.isEmpty()) {
      final List<Dropped> told =
          dropped.stream().filter(each -> each.isForgotten(replicas)).toList();
      dropped.removeAll(told); // first: a listener that throws is not told again
      told.forEach(each -> each.told.run());
    }
    if (waiting.isEmpty()) {
      return;
    }
    final long nowNs = System.nanoTime();
    final Map<String, @Nullable GroupState> states = new HashMap<>(); // a look for each name
    final List<Request> again = new ArrayList<>();
    final ListIterator<Request> each = waiting.listIterator();
    while (each.hasNext()) {
      final Request request = each.next();
      final String name = request.wanted.getIndex();
      if (!states.containsKey(name)) {
        states.put(name, replicas.state(name));
      }
      final GroupState group = states.get(name);
      if (group != null && serves(group)) {
        each.remove(); // first: a listener that throws is not told again
        tellCreated(request, group);
      } else if (nowNs - request.endNs >= 0) {
        each.remove();
        request.told.onEnd(0, false, noAnswer(request.wanted.getIndex()));
      } else if (group == null && request.seen) { // dropped before it served
        each.remove();
        again.add(request.seen(false));
      } else if (group != null && !request.seen) {
        each.set(request.seen(true));
      }
    }
    again.forEach(this::execute);
  }

  /** The end of a request that the coordinator has not answered, or the nodes have not. */
  static StatusException noAnswer(String index) {
    return Status.UNAVAILABLE
        .withDescription(
            "the coordinator or the nodes do not answer; whether it was done is unknown: index="
                + index)
        .asException();
  }

  /** Gives the creations up that wait. On the node's thread, at its end. */
  public void close() {
    asked.values().forEach(waiting::addAll);
    asked.clear();
    waiting.forEach(request -> request.told.onEnd(0, false, noAnswer(request.wanted.getIndex())));
    waiting.clear();
    dropped.forEach(each -> each.told.run()); // the coordinator has done it
    dropped.clear();
  }
}

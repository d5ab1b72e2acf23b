package dev.ringfetch.index.service;

import dev.ringfetch.index.call.CallSignals;
import dev.ringfetch.index.call.Outcomes;
import dev.ringfetch.index.call.RequestLimits;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.node.CatchUp;
import dev.ringfetch.index.v1.CreateIndexRequest;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.stub.StreamObserver;
import org.jspecify.annotations.Nullable;

/**
 * The lookup of the index that a call names: asks the coordinator where this node does not know of
 * it, confirms that the node leads it, and creates it. A step of a call that throws ends the call.
 *
 * <p>Safe for use by many threads; no method waits.
 */
final class IndexLookup {
  private final Indexes indexes;

  IndexLookup(Indexes indexes) {
    this.indexes = indexes;
  }

  /**
   * Reads, and first finds out, where the index is replicated, that this node leads it still.
   *
   * @param reading finds its index again if it has to
   */
  void read(String name, StreamObserver<?> responses, CatchUp.Use<ServedIndex> reading) {
    whenKnown(
        name,
        responses,
        index -> {
          if (index == null || !index.needsBarrier()) {
            reading.take(index);
            return;
          }
          index
              .leadership()
              .barrier()
              .confirm(
                  leads ->
                      CatchUp.carryOut(
                          () -> {
                            if (!leads) { // moved, or dropped: what has the name then is read
                              throw Outcomes.deposed(index).asException();
                            }
                            reading.take(index);
                          },
                          responses::onError));
        });
  }

  /**
   * Finds the index of a call, null if there is none. A node of a cluster that knows of none by
   * that name asks the coordinator first: the index may have been created a moment ago. Calls that
   * are made often look for their index themselves first, without an object for the rest of them.
   */
  void whenKnown(String name, StreamObserver<?> responses, CatchUp.Use<ServedIndex> call) {
    CatchUp.whenKnown(indexes.catalog(), () -> known(name), call, responses::onError);
  }

  /** Begins a call that has to know when its client cancels it, see {@link #whenKnown}. */
  <Q, R> void begin(String name, Q request, StreamObserver<R> responses, Begin<Q, R> call) {
    final CallSignals<R> signals = new CallSignals<>(responses); // at once, as gRPC wants it
    whenKnown(name, responses, found -> call.on(found, request, signals));
  }

  /** The begin of a call on an index, null if there is none. */
  @FunctionalInterface
  interface Begin<Q, R> {
    void on(@Nullable ServedIndex index, Q request, CallSignals<R> signals) throws StatusException;
  }

  /** Creates the index of a write, as an ORDERED one, and goes on when it takes calls. */
  void whenCreated(String name, StreamObserver<?> responses, CatchUp.Use<ServedIndex> call) {
    indexes
        .catalog()
        .create(
            CreateIndexRequest.newBuilder().setIndex(name).build(),
            (incarnation, created, failure) -> {
              if (failure != null) {
                responses.onError(failure);
              } else {
                CatchUp.carryOut(() -> call.take(createdIndex(name)), responses::onError);
              }
            });
  }

  private ServedIndex createdIndex(String name) throws StatusException {
    final ServedIndex created = known(name);
    if (created == null) {
      throw Status.UNAVAILABLE
          .withDescription("the index was dropped meanwhile; send again: index=" + name)
          .asException();
    }
    return created;
  }

  /**
   * The index of that name, or null if there is none, as far as this node knows.
   *
   * @throws StatusException if another node leads it, or it is unknown whether there is one
   */
  @Nullable ServedIndex known(String name) throws StatusException {
    final ServedIndex found = indexes.find(name);
    if (found == null) {
      // Only here: a name under which there is an index was checked when that was created.
      RequestLimits.checkIndexName(name);
      indexes.checkStarted();
      final ServedIndex started = indexes.find(name); // it may have started between the two
      if (started == null) {
        indexes.catalog().checkElsewhere(name.isEmpty() ? Indexes.DEFAULT_NAME : name);
      }
      return started;
    }
    return found;
  }
}

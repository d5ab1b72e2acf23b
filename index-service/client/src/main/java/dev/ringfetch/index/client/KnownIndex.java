package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.CreateIndexResponse;
import dev.ringfetch.index.v1.DescribeRequest;
import dev.ringfetch.index.v1.DescribeResponse;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import io.grpc.Status;
import java.util.function.Consumer;

/**
 * A client's knowledge of an index: whether it exists in the kind that its views need. A write to a
 * missing index would make the server choose the kind, so a view creates it first.
 *
 * <p>Every answer says which incarnation it is of. If that changes, or if the server was lost, the
 * next write creates the index again. Safe for use by many threads.
 */
final class KnownIndex {
  private final String name;
  private final IndexKind kind;
  private volatile long incarnation; // 0 if it may not exist
  private volatile long latest; // in an answer; 0: there was none, or there is no index

  KnownIndex(String name, IndexKind kind) {
    this.name = name;
    this.kind = kind;
  }

  String name() {
    return name;
  }

  /** Creates the index unless it is known to exist, and waits until it does. */
  void ensure(IndexCalls calls, OperationRun run) {
    if (incarnation != 0) {
      return;
    }
    try {
      exists(calls.call(run, create()).getIncarnation());
    } catch (IndexException e) {
      if (!isOfOtherKind(e)) {
        throw e;
      }
      described(run, calls.call(run, describe()), e);
    }
  }

  /** As {@link #ensure}, then runs an action, without waiting. */
  void ensure(
      IndexCalls calls, CallFuture<?> future, Runnable next, Consumer<IndexException> onFailure) {
    if (incarnation != 0) {
      next.run();
      return;
    }
    calls.send(
        future,
        create(),
        response -> {
          exists(response.getIncarnation());
          next.run();
        },
        failure -> {
          if (isOfOtherKind(failure)) {
            calls.send(
                future,
                describe(),
                description -> {
                  described(future.run(), description, failure);
                  next.run();
                },
                onFailure);
          } else {
            onFailure.accept(failure);
          }
        });
  }

  private Call<CreateIndexRequest, CreateIndexResponse> create() {
    return Call.unnumbered(
        IndexAdminGrpc.getCreateIndexMethod(),
        CreateIndexRequest.newBuilder().setIndex(name).setKind(kind).build(),
        true);
  }

  /** The call that asks for the present incarnation; its answer goes to {@link #answered}. */
  Call<DescribeRequest, DescribeResponse> describe() {
    return Call.reading(
        IndexGrpc.getDescribeMethod(), DescribeRequest.newBuilder().setIndex(name).build());
  }

  private static boolean isOfOtherKind(IndexException failure) {
    return switch (failure.code()) {
      case ALREADY_EXISTS, FAILED_PRECONDITION, INVALID_ARGUMENT -> true;
      default -> false;
    };
  }

  /** The incarnation in the last answer that named one; 0 if none did, or if it is missing. */
  long latest() {
    return latest;
  }

  private void exists(long found) {
    latest = found; // first: where the other is known, this is
    incarnation = found;
  }

  /**
   * Reads and writes of single keys are the same in any kind; ranges need an ordered index, and
   * boxes a spatial one. An index that was dropped since its creation was refused is unknown.
   */
  private void described(OperationRun run, DescribeResponse response, IndexException refused) {
    if (!response.hasIndex() && refused.code() != Status.Code.ALREADY_EXISTS) {
      throw refused;
    }
    final IndexKind found = response.getIndex().getKind();
    if (kind != IndexKind.HASH && response.hasIndex() && found != kind) {
      throw run.failure(
          Status.FAILED_PRECONDITION.withDescription("the index is " + found + ", not " + kind),
          false);
    }
    exists(response.getIndex().getIncarnation());
  }

  /** Called with the incarnation in each answer. */
  void answered(long answered) {
    if (answered != 0 && latest != answered) {
      latest = answered;
    }
    if (incarnation != 0 && incarnation != answered) {
      incarnation = 0;
    }
  }

  /** Called when the server may have no such index, whatever an answer said before. */
  void missing() {
    incarnation = 0;
    latest = 0;
  }

  /** Called with each failure: after some of them, the index may be gone. */
  void failed(IndexException failure) {
    switch (failure.code()) {
      case ABORTED, NOT_FOUND, FAILED_PRECONDITION -> incarnation = 0;
      default -> incarnation = failure.isLost() ? 0 : incarnation;
    }
  }
}

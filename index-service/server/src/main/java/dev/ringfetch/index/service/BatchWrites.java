package dev.ringfetch.index.service;

import dev.ringfetch.index.call.AppendCall;
import dev.ringfetch.index.call.BatchPutCall;
import dev.ringfetch.index.call.Outcomes;
import dev.ringfetch.index.call.RequestLimits;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.node.CatchUp;
import dev.ringfetch.index.outcome.NumberedClient;
import dev.ringfetch.index.v1.AppendRequest;
import dev.ringfetch.index.v1.AppendResponse;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.BatchPutResponse;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.stub.StreamObserver;
import org.jspecify.annotations.Nullable;

/**
 * The calls of many writes: BatchPut, which creates a missing index, and Append, which does not.
 *
 * <p>Safe for use by many threads. No method waits.
 */
final class BatchWrites {
  private final Indexes indexes;
  private final Outcomes outcomes;
  private final RequestNumbers numbers;
  private final IndexLookup lookup;

  BatchWrites(Indexes indexes, RequestNumbers numbers, IndexLookup lookup) {
    this.indexes = indexes;
    this.outcomes = indexes.memory().statuses();
    this.numbers = numbers;
    this.lookup = lookup;
  }

  void batchPut(BatchPutRequest request, StreamObserver<BatchPutResponse> responses) {
    CatchUp.carryOut(
        () -> {
          RequestLimits.checkBatch(request.getEntriesCount());
          whenFound(request.getIndex(), responses, found -> batchPut(found, request, responses));
        },
        responses::onError);
  }

  private void batchPut(
      @Nullable ServedIndex found,
      BatchPutRequest request,
      StreamObserver<BatchPutResponse> responses)
      throws StatusException {
    final NumberedClient client =
        request.hasNumber()
            ? numbers.client(found, request.getNumber(), request.getEntriesCount())
            : null;
    if (found == null) {
      lookup.whenCreated(
          request.getIndex(), responses, index -> batchPut(index, request, responses));
      return;
    }
    new BatchPutCall(request, client, found, outcomes, responses).submit();
  }

  void append(AppendRequest request, StreamObserver<AppendResponse> responses) {
    CatchUp.carryOut(
        () -> {
          RequestLimits.checkRecords(request.getRecordsList());
          whenFound(request.getIndex(), responses, found -> append(found, request, responses));
        },
        responses::onError);
  }

  private void append(
      @Nullable ServedIndex found, AppendRequest request, StreamObserver<AppendResponse> responses)
      throws StatusException {
    final NumberedClient client =
        request.hasNumber()
            ? numbers.client(found, request.getNumber(), request.getRecordsCount())
            : null;
    if (found == null) {
      throw Outcomes.absent(request.getIndex()).asException();
    }
    if (found.appends() == null) {
      throw Status.FAILED_PRECONDITION
          .withDescription("the index was not created for appends: index=" + found.name())
          .asException();
    }
    new AppendCall(request, client, found, outcomes, responses).submit();
  }

  private void whenFound(String name, StreamObserver<?> responses, CatchUp.Use<ServedIndex> call)
      throws StatusException {
    final ServedIndex found = indexes.find(name);
    if (found != null) {
      call.take(found);
    } else {
      lookup.whenKnown(name, responses, call);
    }
  }
}

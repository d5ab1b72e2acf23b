package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.BatchPutResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.PutEntry;
import dev.ringfetch.index.v1.PutOutcome;
import dev.ringfetch.index.v1.RequestNumber;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The steps of a write of many entries: one batch each. An entry that the server refuses does not
 * keep the others from being written. Used by one thread at a time.
 */
final class PutAll<K, V> {
  /** The most entries of a batch. */
  static final int BATCH_ENTRIES = 1_000;

  /** Bytes that end a batch; a last entry of 1 MiB still leaves it below a server's 4 MiB. */
  static final int BATCH_BYTES = 1 << 20;

  private final IndexRequests<K, V> requests;
  private final List<PutEntry> entries = new ArrayList<>();
  private final int all; // with those that are not sent
  private int done;
  private int batch; // entries of the present batch
  private int written;
  private final Map<ByteString, Status> refused = new LinkedHashMap<>();

  PutAll(IndexRequests<K, V> requests, Map<? extends K, ? extends V> map, long ttlMs) {
    this.requests = requests;
    all = map.size();
    map.forEach((key, value) -> add(requests.encodeKey(key), requests.encodeValue(value), ttlMs));
  }

  private void add(ByteString key, ByteString value, long ttlMs) {
    final Status ofKey = EntryLimits.ofKey(key);
    final Status limit = ofKey == null ? EntryLimits.ofValue(value) : ofKey;
    if (limit == null) {
      entries.add(PutEntry.newBuilder().setKey(key).setValue(value).setTtlMs(ttlMs).build());
    } else {
      refused.put(key, limit);
    }
  }

  boolean isDone() {
    return done == entries.size();
  }

  Call<BatchPutRequest, BatchPutResponse> next() {
    int bytes = 0;
    int end = done;
    while (end < entries.size() && end - done < BATCH_ENTRIES && bytes < BATCH_BYTES) {
      bytes += entries.get(end++).getSerializedSize();
    }
    batch = end - done;
    return Call.writing(
        IndexGrpc.getBatchPutMethod(),
        BatchPutRequest.newBuilder()
            .setIndex(requests.name())
            .addAllEntries(entries.subList(done, end))
            .build(),
        true,
        new BatchNumbering(batch));
  }

  /** Gives each entry of a batch a number. */
  private record BatchNumbering(int writes)
      implements Call.Numbering<BatchPutRequest, BatchPutResponse> {
    @Override
    public BatchPutRequest numbered(BatchPutRequest request, RequestNumber first) {
      return request.toBuilder().setNumber(first).build();
    }

    /** The status of a server that is stopping or overloaded and has written only a part. */
    @Override
    public Status failure(BatchPutResponse answer) {
      for (final PutOutcome outcome : answer.getOutcomesList()) {
        if (outcome.getCode() != Status.Code.OK.value()) {
          final Status status = status(outcome);
          if (Failures.isLost(status) || Failures.isOverloaded(status)) {
            return status;
          }
        }
      }
      return null;
    }
  }

  private static Status status(PutOutcome outcome) {
    return Status.fromCodeValue(outcome.getCode()).withDescription(outcome.getDescription());
  }

  void answered(OperationRun run, BatchPutResponse response) {
    if (response.getOutcomesCount() != batch) {
      final String counts = "outcomes=" + response.getOutcomesCount() + " entries=" + batch;
      throw Failures.unexpected(run.subject(), counts, null);
    }
    for (final PutOutcome outcome : response.getOutcomesList()) {
      if (outcome.getCode() == Status.Code.OK.value()) {
        written++;
      } else {
        refused.put(entries.get(done).getKey(), status(outcome));
      }
      done++;
    }
    run.progress("written=" + written + " of=" + all);
  }

  /** Throws if an entry was refused. */
  void check(OperationRun run) {
    if (refused.isEmpty()) {
      return;
    }
    run.progress("");
    final Subject subject = run.subject();
    final Map.Entry<ByteString, Status> first = refused.entrySet().iterator().next();
    throw Failures.of(
            new Subject(subject.operation(), subject.index(), first.getKey()),
            first
                .getValue()
                .withDescription(
                    first.getValue().getDescription()
                        + "; this is the first of failed="
                        + (all - written)
                        + " of="
                        + all
                        + " entries, the others are written"),
            true)
        .withRefusals(refused);
  }
}

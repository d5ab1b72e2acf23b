package dev.ringfetch.index.call;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.outcome.NumberedClient;
import dev.ringfetch.index.partition.PutBatch;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.BatchPutResponse;
import dev.ringfetch.index.v1.PutEntry;
import dev.ringfetch.index.v1.PutOutcome;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.stub.StreamObserver;
import org.jspecify.annotations.Nullable;

/** The call of a batch of puts: answers it when every put has its outcome. */
public final class BatchPutCall {
  /** Characters of all descriptions of a response; others are left out, so that it can be sent. */
  private static final int DESCRIPTIONS_MAX = 1 << 20;

  private final BatchPutRequest request;
  private final @Nullable NumberedClient client; // null: the puts have no numbers
  private final ServedIndex index;
  private final Outcomes outcomes;
  private final StreamObserver<BatchPutResponse> responses;

  /** Of each entry that breaks a limit, its outcome; null for the others, which are written. */
  private final PutOutcome[] refused;

  private int described; // characters; of the thread that submits, and then of the one that answers

  public BatchPutCall(
      BatchPutRequest request,
      NumberedClient client,
      ServedIndex index,
      Outcomes outcomes,
      StreamObserver<BatchPutResponse> responses) {
    this.request = request;
    this.client = client;
    this.index = index;
    this.outcomes = outcomes;
    this.responses = responses;
    this.refused = new PutOutcome[request.getEntriesCount()];
  }

  /** Submits the puts. */
  public void submit() {
    final PutBatch batch = new PutBatch(this::answer);
    for (int i = 0; i < refused.length; i++) {
      final PutEntry entry = request.getEntries(i);
      final ByteString key = entry.getKey();
      try {
        RequestLimits.checkKey(key);
        RequestLimits.checkValue(entry.getValue());
        RequestLimits.checkTtl(entry.getTtlMs());
        batch.add(index.partition(key), key, entry.getValue(), entry.getTtlMs());
        batch.write(batch.size() - 1).numbered(client, request.getNumber().getNumber() + i);
      } catch (StatusException e) {
        refused[i] = outcome(e.getStatus());
      }
    }
    batch.submit();
  }

  private void answer(PutBatch batch) {
    final BatchPutResponse.Builder response =
        BatchPutResponse.newBuilder().setIncarnation(index.incarnation());
    int next = 0;
    for (final PutOutcome outcome : refused) {
      response.addOutcomes(outcome == null ? outcome(batch.write(next++)) : outcome);
    }
    WriteCall.answer(responses, response.build());
  }

  private PutOutcome outcome(Write write) {
    return write.outcome() == Write.DONE
        ? PutOutcome.newBuilder().setVersion(write.version()).setCreated(write.created()).build()
        : outcome(outcomes.status(index, write));
  }

  private PutOutcome outcome(Status status) {
    final String description = String.valueOf(status.getDescription());
    described += description.length();
    return PutOutcome.newBuilder()
        .setCode(status.getCode().value())
        .setDescription(described > DESCRIPTIONS_MAX ? "" : description)
        .build();
  }
}

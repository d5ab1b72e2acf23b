package dev.ringfetch.index.call;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.outcome.NumberedClient;
import dev.ringfetch.index.partition.AppendWrite;
import dev.ringfetch.index.partition.PutBatch;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.v1.AppendRequest;
import dev.ringfetch.index.v1.AppendResponse;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import org.jspecify.annotations.Nullable;

/**
 * The call of an append of records: answers it when every record has its outcome. The owner refuses
 * all records behind one that it refuses, so the answer ends with the first refusal.
 */
public final class AppendCall {
  private final AppendRequest request;
  private final @Nullable NumberedClient client; // null: the records have no numbers
  private final ServedIndex index;
  private final Outcomes outcomes;
  private final StreamObserver<AppendResponse> responses;

  /** Creates the call, whose limits were checked, of an index for appends. */
  public AppendCall(
      AppendRequest request,
      @Nullable NumberedClient client,
      ServedIndex index,
      Outcomes outcomes,
      StreamObserver<AppendResponse> responses) {
    this.request = request;
    this.client = client;
    this.index = index;
    this.outcomes = outcomes;
    this.responses = responses;
  }

  /** Submits the records. */
  public void submit() {
    final PutBatch batch = new PutBatch(this::answer);
    long number = request.getNumber().getNumber();
    for (final ByteString record : request.getRecordsList()) {
      batch.append(index.partition(0), record).numbered(client, number++);
    }
    batch.submit();
  }

  private void answer(PutBatch batch) {
    final AppendResponse.Builder response =
        AppendResponse.newBuilder().setIncarnation(index.incarnation());
    for (int i = 0; i < batch.size() && response.getCode() == 0; i++) {
      final Write write = batch.write(i);
      if (write.outcome() == Write.DONE) {
        response.addOffsets(write.version());
        addTime(response, i, ((AppendWrite) write).timeMs());
      } else {
        final Status status = outcomes.status(index, write);
        response
            .setCode(status.getCode().value())
            .setDescription(String.valueOf(status.getDescription()));
      }
    }
    WriteCall.answer(responses, response.build());
  }

  /** Adds the time of a record, unless the one before has the same; then that one counts. */
  private static void addTime(AppendResponse.Builder response, int record, long timeMs) {
    final int count = response.getTimesMsCount();
    if (count > 0 && response.getTimesMs(count - 1) == timeMs) {
      return;
    }
    for (int i = count; i < record; i++) {
      response.addTimesMs(response.getTimesMs(count - 1));
    }
    response.addTimesMs(timeMs);
  }
}

package dev.ringfetch.index.call;

import dev.ringfetch.index.filter.FieldSum;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.v1.CountResponse;
import io.grpc.StatusException;
import io.grpc.stub.StreamObserver;
import org.jspecify.annotations.Nullable;

/** The call that counts the entries of a range, or in a box, and may sum up a field of them. */
public final class CountCall extends SteppedCall<CountResponse> {
  /** Entries of a step. */
  private static final int STEP = 1000;

  private final @Nullable FieldSum sum;
  private long count;

  CountCall(
      EntryReading reading,
      @Nullable FieldSum sum,
      CallSignals<CountResponse> signals,
      RangeCalls calls) {
    super(reading, signals, calls);
    this.sum = sum;
  }

  @Override
  public boolean take(
      byte[] array, int keyOffset, int keyLength, int valueLength, long version, long deadline) {
    if (sum != null) {
      sum.add(array, keyOffset, keyLength, valueLength, version);
    }
    return ++count % STEP != 0;
  }

  @Override
  Next stepped(boolean isEnd) {
    if (!isEnd) {
      return Next.STEP;
    }
    WriteCall.answer(
        responses, answer(sum).setEntries(count).setIncarnation(index.incarnation()).build());
    return Next.END;
  }

  private static CountResponse.Builder answer(@Nullable FieldSum sum) {
    final CountResponse.Builder answer = CountResponse.newBuilder();
    return sum == null ? answer : answer.setSummary(sum.message());
  }

  /** Answers with the number of all entries, which the owners count; the index is null if none. */
  public static void answerAll(@Nullable ServedIndex index, StreamObserver<CountResponse> responses)
      throws StatusException {
    if (index == null) {
      WriteCall.answer(responses, CountResponse.getDefaultInstance());
      return;
    }
    if (index.isRefused()) {
      throw Outcomes.damaged(index).asException();
    }
    WriteCall.answer(
        responses,
        CountResponse.newBuilder()
            .setEntries(index.count())
            .setIncarnation(index.incarnation())
            .build());
  }

  /** Answers where there is no such index. */
  static void answerNothing(CallSignals<CountResponse> signals, @Nullable FieldSum sum) {
    WriteCall.answer(signals.responses(), answer(sum).build());
  }
}

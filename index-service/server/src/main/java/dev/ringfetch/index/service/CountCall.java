package dev.ringfetch.index.service;

import dev.ringfetch.index.layout.ScanCursor;
import dev.ringfetch.index.v1.CountResponse;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.Executor;

/** The call that counts the entries of a range. */
final class CountCall extends RangeCall<CountResponse> {
  /** Entries of a step. */
  private static final int STEP = 1000;

  private long count;

  CountCall(
      ServedIndex index,
      ScanCursor cursor,
      StreamObserver<CountResponse> responses,
      Outcomes outcomes,
      Executor executor) {
    super(index, cursor, responses, outcomes, executor);
  }

  @Override
  public boolean take(byte[] array, int keyOffset, int keyLength, int valueLength, long version) {
    return ++count % STEP != 0;
  }

  @Override
  Next stepped(boolean isEnd) {
    if (!isEnd) {
      return Next.STEP;
    }
    WriteCall.answer(
        responses,
        CountResponse.newBuilder().setEntries(count).setIncarnation(index.incarnation()).build());
    return Next.END;
  }
}

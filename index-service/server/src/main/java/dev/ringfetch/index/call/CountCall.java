package dev.ringfetch.index.call;

import dev.ringfetch.index.v1.CountResponse;

/** The call that counts the entries of a range, or in a box. */
final class CountCall extends SteppedCall<CountResponse> {
  /** Entries of a step. */
  private static final int STEP = 1000;

  private long count;

  CountCall(EntryReading reading, CallSignals<CountResponse> signals, RangeCalls calls) {
    super(reading, signals, calls);
  }

  @Override
  public boolean take(
      byte[] array, int keyOffset, int keyLength, int valueLength, long version, long deadline) {
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

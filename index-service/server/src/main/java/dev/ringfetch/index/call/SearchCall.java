package dev.ringfetch.index.call;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.ScanResponse;
import dev.ringfetch.index.v1.SearchRequest;

/**
 * The call of a search: answers with pages until no entry is left, or with the first page alone.
 */
final class SearchCall extends SteppedCall<ScanResponse> {
  /** The most entries where the first page is the whole answer: few searches have more. */
  private static final int ENTRIES_ALONE = 4_000;

  private final Page page;
  private final boolean isFiltered;
  private final boolean all;
  private int steps;
  private int taken;

  /**
   * Creates the call.
   *
   * @param all whether all pages are answers, as fast as the client takes them
   */
  SearchCall(
      BoxReading reading,
      SearchRequest request,
      CallSignals<ScanResponse> signals,
      RangeCalls calls,
      boolean all) {
    super(reading, signals, calls);
    this.all = all;
    isFiltered = reading.filter() != null;
    page =
        new Page(
            request.getKeysOnly(), all ? Page.ENTRIES_DEFAULT : ENTRIES_ALONE, request.getLimit());
  }

  @Override
  Next ready() {
    return !all || responses.isReady() ? Next.STEP : Next.WAIT;
  }

  @Override
  public boolean take(
      byte[] array, int keyOffset, int keyLength, int valueLength, long version, long deadline) {
    return page.take(array, keyOffset, keyLength, valueLength, version, deadline)
        && ++taken % Page.ENTRIES_DEFAULT != 0; // another step goes on
  }

  @Override
  public int room() {
    return page.room();
  }

  @Override
  Next stepped(boolean isEnd) {
    final boolean isLast = isEnd || page.isLast();
    final boolean isDue = isFiltered && ++steps % ScanCall.STEPS == 0;
    if (!isDue && !isLast && !page.isFull()) {
      return Next.STEP;
    }
    final ScanResponse found = page.finish(index, ByteString.EMPTY);
    if (all && !isLast) {
      responses.onNext(found);
      return Next.STEP;
    }
    WriteCall.answer(responses, isLast ? found : found.toBuilder().setIncomplete(true).build());
    return Next.END;
  }
}

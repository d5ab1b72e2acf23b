package dev.ringfetch.index.call;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.ScanResponse;
import dev.ringfetch.index.v1.SearchRequest;

/** The call of a search: answers with pages, as fast as the client takes them. */
final class SearchCall extends SteppedCall<ScanResponse> {
  private final Page page;
  private final boolean isFiltered;
  private int steps;

  SearchCall(
      BoxReading reading,
      SearchRequest request,
      CallSignals<ScanResponse> signals,
      RangeCalls calls) {
    super(reading, signals, calls);
    isFiltered = reading.filter() != null;
    page = new Page(request.getKeysOnly(), 0, request.getLimit());
  }

  @Override
  Next ready() {
    return responses.isReady() ? Next.STEP : Next.WAIT;
  }

  @Override
  public boolean take(
      byte[] array, int keyOffset, int keyLength, int valueLength, long version, long deadline) {
    return page.take(array, keyOffset, keyLength, valueLength, version, deadline);
  }

  @Override
  Next stepped(boolean isEnd) {
    final boolean isLast = isEnd || page.isLast();
    final boolean isDue = isFiltered && ++steps % ScanCall.STEPS == 0;
    if (isDue || (!page.isEmpty() && (isLast || page.isFull()))) {
      responses.onNext(page.finish(index, ByteString.EMPTY));
    }
    if (isLast) {
      responses.onCompleted();
      return Next.END;
    }
    return Next.STEP;
  }
}

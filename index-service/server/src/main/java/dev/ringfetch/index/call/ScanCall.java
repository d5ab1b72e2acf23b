package dev.ringfetch.index.call;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.ScanCursor;
import dev.ringfetch.index.v1.ScanRequest;
import dev.ringfetch.index.v1.ScanResponse;

/** The call of a scan: answers with pages until the range ends, or with the first page alone. */
class ScanCall extends SteppedCall<ScanResponse> {
  /** Steps after which a page is answered though it has room: few entries are of the filter. */
  static final int STEPS = 64;

  private final ScanCursor cursor;
  final Page page;
  private final boolean all;
  private final boolean isFiltered;
  private int steps; // of the page

  /**
   * Creates the call.
   *
   * @param all whether all pages are answers, as fast as the client takes them
   */
  ScanCall(
      RangeReading range,
      ScanRequest request,
      CallSignals<ScanResponse> signals,
      RangeCalls calls,
      boolean all) {
    super(range, signals, calls);
    this.cursor = range.cursor();
    this.isFiltered = range.filter() != null;
    this.page = new Page(request);
    this.all = all;
  }

  @Override
  Next ready() {
    return !all || responses.isReady() ? Next.STEP : Next.WAIT;
  }

  @Override
  public boolean take(
      byte[] array, int keyOffset, int keyLength, int valueLength, long version, long deadline) {
    return page.take(array, keyOffset, keyLength, valueLength, version, deadline);
  }

  @Override
  public int room() {
    return page.room();
  }

  /** The token of the page behind the one that has filled. */
  ByteString token() {
    return Ranges.token(cursor.isReverse(), cursor.place(), index.incarnation());
  }

  private boolean wantsMore() {
    return ++steps < STEPS || (page.isEmpty() && !isFiltered);
  }

  @Override
  final Next stepped(boolean isEnd) {
    if (!isEnd && !page.isFull() && !page.isLast() && wantsMore()) {
      return Next.STEP; // entries have passed by
    }
    steps = 0;
    final ByteString token = isEnd ? ByteString.EMPTY : token();
    if (!all) {
      WriteCall.answer(responses, page.finish(index, token));
      return Next.END;
    }
    final boolean isLast = isEnd || page.isLast();
    if (!page.isEmpty() || !isLast) { // an empty one tells the client that the scan goes on
      responses.onNext(page.finish(index, token));
    }
    if (isLast) {
      responses.onCompleted();
      return Next.END;
    }
    return Next.STEP;
  }
}

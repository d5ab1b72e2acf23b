package dev.ringfetch.index.service;

import dev.ringfetch.index.layout.ScanCursor;
import dev.ringfetch.index.v1.ScanRequest;
import dev.ringfetch.index.v1.ScanResponse;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.Executor;

/** The call of a scan: answers with pages until the range ends, or with the first page alone. */
final class ScanCall extends RangeCall<ScanResponse> {
  private final Page page;
  private final boolean all;

  /**
   * Creates the call.
   *
   * @param all whether all pages are answers, as fast as the client takes them
   */
  ScanCall(
      ServedIndex index,
      ScanCursor cursor,
      ScanRequest request,
      StreamObserver<ScanResponse> responses,
      Outcomes outcomes,
      Executor executor,
      boolean all) {
    super(index, cursor, responses, outcomes, executor);
    this.page = new Page(request);
    this.all = all;
    if (all) {
      this.responses.setOnReadyHandler(this::drive);
    }
  }

  @Override
  Next ready() {
    return !all || responses.isReady() ? Next.STEP : Next.WAIT;
  }

  @Override
  public boolean take(byte[] array, int keyOffset, int keyLength, int valueLength, long version) {
    return page.take(array, keyOffset, keyLength, valueLength, version);
  }

  @Override
  Next stepped(boolean isEnd) {
    if (!all) {
      WriteCall.answer(responses, page.finish(index, cursor, isEnd));
      return Next.END;
    }
    final boolean isLast = isEnd || page.isLast();
    if (!page.isEmpty()) {
      responses.onNext(page.finish(index, cursor, isEnd));
    }
    if (isLast) {
      responses.onCompleted();
      return Next.END;
    }
    return Next.STEP;
  }
}

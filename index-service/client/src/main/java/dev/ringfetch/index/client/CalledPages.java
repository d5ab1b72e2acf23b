package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.ScanRequest;
import dev.ringfetch.index.v1.ScanResponse;

/** The pages of a scan that is no snapshot, by a call each. */
final class CalledPages implements Pages {
  private final IndexCalls calls;
  private final Subject subject;
  private final long timeoutNs;
  private final PageCalls pages;

  CalledPages(IndexCalls calls, Subject subject, long timeoutNs, ScanRequest request) {
    this.calls = calls;
    this.subject = subject;
    this.timeoutNs = timeoutNs;
    this.pages = new PageCalls(subject, request);
  }

  @Override
  public ScanResponse next() {
    final Call<ScanRequest, ScanResponse> call = pages.next();
    if (call == null) {
      return null;
    }
    final OperationRun run = calls.begin(subject, timeoutNs);
    return run.measure(
        () -> {
          final ScanResponse page = calls.call(run, call);
          pages.answered(page);
          return page;
        });
  }

  @Override
  public void close() {
    pages.close();
  }
}

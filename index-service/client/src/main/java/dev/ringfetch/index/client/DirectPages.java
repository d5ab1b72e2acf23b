package dev.ringfetch.index.client;

import dev.ringfetch.index.direct.DirectScan;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.ScanRequest;
import dev.ringfetch.index.v1.ScanResponse;
import io.grpc.StatusRuntimeException;

/**
 * The pages of a scan that is no snapshot, out of the index's memory where that is granted, and by
 * a call each where not. A scan with a filter goes by calls to its end after the first one: servers
 * filter.
 */
final class DirectPages implements Pages {
  /** The most entries of a page out of memory. */
  private static final int ENTRIES = 250;

  private final IndexCalls calls;
  private final DirectRoute direct;
  private final Subject subject;
  private final long timeoutNs;
  private final DirectScan scan;
  private final boolean keysOnly;
  private final boolean isFiltered;
  private final int most;
  private boolean closed;

  DirectPages(
      IndexCalls calls, DirectRoute direct, Subject subject, long timeoutNs, ScanRequest request) {
    this.calls = calls;
    this.direct = direct;
    this.subject = subject;
    this.timeoutNs = timeoutNs;
    this.keysOnly = request.getKeysOnly();
    this.isFiltered = request.hasFilter();
    this.most = least(request.getPageSize(), least(request.getLimit(), ENTRIES));
    this.scan = new DirectScan(request.toBuilder().setPageSize(most).build());
  }

  private static int least(long limit, int most) {
    return limit > 0 ? (int) Math.min(limit, most) : most;
  }

  @Override
  public ScanResponse next() {
    if (closed || scan.isDone()) {
      return null;
    }
    final OperationRun run = calls.begin(subject, timeoutNs);
    return run.measure(() -> next(run));
  }

  private ScanResponse next(OperationRun run) {
    final MemoryPage page = new MemoryPage(keysOnly, most);
    try {
      if (!scan.isCalled() && readDirectly(run, page)) {
        return page.build(scan.incarnation());
      }
      final ScanRequest request = scan.request(subject.index());
      final ScanResponse answer =
          calls.call(run, Call.reading(IndexGrpc.getScanPageMethod(), request));
      return scan.answered(answer);
    } catch (StatusRuntimeException e) {
      throw run.failure(e.getStatus(), false);
    }
  }

  /** Reads a page with a reader of memory. False if it is to be read by a call. */
  private boolean readDirectly(OperationRun run, MemoryPage page) {
    final DirectReads.Reader reader = direct.borrow(run, ReadKind.page(most));
    if (isFiltered) {
      run.cancelTurn(); // how many entries it looks at differs much between the routes
    }
    if (reader == null) {
      return false;
    }
    try {
      final long callsBefore = reader.scanCalls();
      reader.scan(scan, page);
      run.route(reader.scanCalls() == callsBefore ? Access.DIRECT : Access.RPC);
      return true;
    } catch (StatusRuntimeException e) {
      final boolean isRead = !page.isEmpty(); // else a call waits for the server
      if (Failures.isLost(e.getStatus()) && (isRead || run.leftNs() > 0)) {
        return isRead;
      }
      throw e;
    } finally {
      direct.giveBack(reader);
    }
  }

  @Override
  public void close() {
    closed = true;
  }
}

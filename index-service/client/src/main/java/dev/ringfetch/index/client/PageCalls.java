package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.ScanRequest;
import dev.ringfetch.index.v1.ScanResponse;

/**
 * The calls for the pages of a scan: each says where the one before has ended, so the server keeps
 * no state between them. Used by one thread at a time.
 */
final class PageCalls {
  private final Subject subject;
  private ScanRequest next; // null after the last page

  PageCalls(Subject subject, ScanRequest first) {
    this.subject = subject;
    this.next = first;
  }

  /** The call for the next page, or null. */
  Call<ScanRequest, ScanResponse> next() {
    return next == null ? null : Call.reading(IndexGrpc.getScanPageMethod(), next);
  }

  void answered(ScanResponse page) {
    final ByteString token = page.getNextPageToken();
    final int entries = page.getEntriesCount();
    final long left = next.getLimit() - entries;
    if (token.isEmpty() || (next.getLimit() != 0 && left <= 0)) {
      next = null;
      return;
    }
    if (entries == 0 && token.equals(next.getPageToken())) {
      throw Failures.unexpected(subject, "the scan does not advance", null);
    }
    next = next.toBuilder().setPageToken(token).setLimit(next.getLimit() == 0 ? 0 : left).build();
  }

  /** Ends the scan. */
  void close() {
    next = null;
  }
}

package dev.ringfetch.index.client;

import dev.ringfetch.index.direct.DirectLook;
import dev.ringfetch.index.direct.DirectSearch;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.ScanResponse;
import dev.ringfetch.index.v1.SearchRequest;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;

/**
 * The pages of a search, out of the index's memory where that is granted. If memory does not
 * decide, or is not granted, a unary call brings a page, and where that is incomplete a stream
 * brings all entries: what was given before is left out.
 */
final class SearchPages implements Pages {
  /** The most entries of a page out of memory. */
  private static final int ENTRIES = 1000;

  /** Pauses of a search that finds no reader free, of 70 ms together. */
  private static final int WAITS = 3;

  private final IndexCalls calls;
  private final Subject subject;
  private final long timeoutNs;
  private final SearchRequest request;
  private final DirectSearch search;
  private DirectRoute direct; // null: all goes by calls
  private StreamedPages stream; // null: not needed so far
  private boolean closed;

  SearchPages(
      IndexCalls calls,
      DirectRoute direct,
      Subject subject,
      long timeoutNs,
      SearchRequest request) {
    this.calls = calls;
    this.direct = direct;
    this.subject = subject;
    this.timeoutNs = timeoutNs;
    this.request = request;
    search = new DirectSearch(request);
  }

  @Override
  public ScanResponse next() {
    if (closed || search.isDone()) {
      return null;
    }
    if (stream == null) {
      final OperationRun run = calls.begin(subject, timeoutNs);
      final ScanResponse page = run.measure(() -> next(run));
      if (page != null) {
        return page;
      }
    }
    return left(stream.next());
  }

  /** Reads a page in memory or by a unary call; null if a stream goes on. */
  private ScanResponse next(OperationRun run) {
    final ScanResponse read = direct == null ? null : readDirectly(run);
    if (read != null) {
      run.route(Access.DIRECT);
      return read;
    }
    if (search.incarnation() != 0) { // a page would be one of entries that memory has given
      run.cancelTurn();
      beginStream();
      return null;
    }
    final ScanResponse page;
    try {
      page = calls.call(run, Call.reading(IndexGrpc.getSearchPageMethod(), request()));
    } catch (IndexException e) {
      if (e.code() != Status.Code.UNIMPLEMENTED) {
        throw e;
      }
      beginStream(); // an older server
      return null;
    }
    final ScanResponse left = left(page);
    if (page.getIncomplete()) {
      beginStream();
    } else {
      closed = true; // that was all
    }
    return left;
  }

  /** Begins the stream, whose pages bring what was not given. */
  private void beginStream() {
    stream =
        new StreamedPages(
            calls,
            subject,
            timeoutNs,
            Call.reading(IndexGrpc.getSearchMethod(), request()),
            Scan.SNAPSHOT_LIFETIME_DEFAULT.toNanos());
  }

  private SearchRequest request() {
    return search.request(subject.index());
  }

  /** Reads a page with a reader of memory; null if a call has to go on. */
  private ScanResponse readDirectly(OperationRun run) {
    final DirectReads.Reader reader = borrow(run);
    if (reader == null) {
      return null;
    }
    direct = direct.fixed(); // the first page has chosen for all
    final MemoryPage page = new MemoryPage(request.getKeysOnly(), ENTRIES);
    try {
      final DirectLook look = reader.search(search, page);
      return look == DirectLook.UNDECIDED && page.isEmpty()
          ? null
          : page.build(search.incarnation());
    } finally {
      direct.giveBack(reader);
    }
  }

  /**
   * Takes a reader. A search that has begun in memory waits for one, since a call finds all entries
   * again; null if a call has to go on.
   */
  private DirectReads.Reader borrow(OperationRun run) {
    final ReadKind kind = ReadKind.search(request.getLimit());
    DirectReads.Reader reader = direct.borrow(run, kind);
    for (int i = 0; i < WAITS && reader == null && search.incarnation() != 0; i++) {
      calls.pause(run);
      reader = direct.borrow(run, kind);
    }
    return reader;
  }

  /** What the search has not given yet. */
  private ScanResponse left(ScanResponse page) {
    if (page == null) {
      return null;
    }
    try {
      return search.answered(page);
    } catch (StatusRuntimeException e) {
      throw Failures.of(subject, e.getStatus(), false);
    }
  }

  @Override
  public void close() {
    closed = true;
    if (stream != null) {
      stream.close();
    }
  }
}

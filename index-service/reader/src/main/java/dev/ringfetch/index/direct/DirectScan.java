package dev.ringfetch.index.direct;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.filter.EntryFilter;
import dev.ringfetch.index.layout.BlockDescriptor;
import dev.ringfetch.index.layout.EntrySink;
import dev.ringfetch.index.layout.KeyBounds;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.layout.ScanCursor;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.KeyRange;
import dev.ringfetch.index.v1.ScanRequest;
import dev.ringfetch.index.v1.ScanResponse;
import io.grpc.Status;

/**
 * The state of a scan of an ordered index: its range and its position. Any {@link DirectReader} of
 * the same index can continue it, directly or by calls. Used by one thread at a time.
 */
public final class DirectScan extends DirectReading {
  private final ScanRequest request;
  private final ScanCursor cursor; // null if a bound is longer than a key can be
  private ByteString token =
      ByteString.EMPTY; // of the next page, once a filtered scan goes by calls

  /**
   * Begins a scan.
   *
   * @param request range, direction, limit, filter, whether keys only, and the size of pages when
   *     the scan goes by calls. Its index is ignored.
   * @throws IllegalArgumentException if it asks for a snapshot, which only calls support, or has
   *     the token of a page, or if the filter is none.
   */
  public DirectScan(ScanRequest request) {
    super(
        request.getKeysOnly(),
        request.getLimit(),
        request.hasFilter() ? new EntryFilter(request.getFilter()) : null);
    if (request.getSnapshot() || !request.getPageToken().isEmpty()) {
      throw new IllegalArgumentException(
          "snapshot=" + request.getSnapshot() + " token=" + request.getPageToken().size());
    }
    this.request = request;
    cursor = isLegal(request.getRange()) ? cursor(request.getRange(), request.getReverse()) : null;
  }

  private static boolean isLegal(KeyRange range) {
    return range.getStart().size() <= KeyBounds.MAX_LENGTH
        && range.getEnd().size() <= KeyBounds.MAX_LENGTH
        && range.getPrefix().size() <= BlockDescriptor.MAX_KEY_LENGTH;
  }

  private static ScanCursor cursor(KeyRange range, boolean reverse) {
    final ByteString start = KeyBounds.start(range.getStart(), range.getPrefix());
    final ByteString end = KeyBounds.end(range.getEnd(), range.getPrefix());
    return reverse ? ScanCursor.reverse(start, end) : ScanCursor.forward(start, end);
  }

  @Override
  public boolean isDone() {
    return super.isDone() || (cursor != null && cursor.isDone());
  }

  @Override
  ReadResult read(GrantedIndex granted, EntrySink sink) {
    return granted.scan(cursor, sink);
  }

  @Override
  boolean isLegal() { // bounds are no longer than keys can be
    return cursor != null && !isCalled();
  }

  @Override
  boolean fits(GrantedIndex granted) {
    return granted.isOrdered();
  }

  /**
   * The request for the next page, for a client that makes the call itself and then reports it to
   * {@link #answered}. If the scan has a filter, the server filters, and the page says by a token
   * how to go on: such a scan goes by calls to its end.
   *
   * @param index name of the index.
   */
  public ScanRequest request(String index) {
    final ScanRequest.Builder rest =
        request.toBuilder().setIndex(index).setLimit(left() == -1 ? 0 : left()).setPageToken(token);
    return (cursor == null ? rest : rest.setRange(rest())).build();
  }

  /** Whether all that is left comes by calls. */
  public boolean isCalled() {
    return !token.isEmpty();
  }

  /** The range from the position on. */
  private KeyRange rest() {
    final KeyRange.Builder range = request.getRange().toBuilder();
    final ByteString place = cursor.place();
    if (cursor.isReverse()) {
      return (place.isEmpty() ? range : range.setEnd(place)).build();
    }
    return range.setStart(place).build();
  }

  /**
   * Moves the scan behind the entries of a page, the answer to {@link #request}.
   *
   * @return what is left of the page: the entries that are wanted.
   * @throws io.grpc.StatusRuntimeException ABORTED if the index was dropped since the scan's begin;
   *     INTERNAL if the page does not belong to the rest of the range.
   */
  public ScanResponse answered(ScanResponse page) {
    begin(page);
    final ScanResponse.Builder wanted = page.toBuilder().clearEntries();
    for (final Entry entry : page.getEntriesList()) {
      if (!isDone()) {
        pass(entry);
        wanted.addEntries(entry);
      }
    }
    end(page);
    return wanted.build();
  }

  /** Checks a page before its entries count. */
  void begin(ScanResponse page) {
    checkIncarnation(page.getIncarnation());
    final ByteString next = page.getNextPageToken();
    final boolean mayBeEmpty = filter() != null && !next.equals(token);
    if (page.getEntriesCount() == 0 && !next.isEmpty() && !mayBeEmpty) {
      throw notAdvancing();
    }
  }

  /** Moves behind an entry of a page. */
  void pass(Entry entry) {
    final byte[] key = entry.getKey().toByteArray();
    if (cursor == null || !cursor.passIfAhead(key, 0, key.length)) {
      throw notAdvancing();
    }
    count();
  }

  /**
   * Called behind the last entry of a page: of a page that was left before, the rest comes anew.
   */
  void end(ScanResponse page) {
    if (page.getNextPageToken().isEmpty()) {
      end();
    } else if (filter() != null) {
      token = page.getNextPageToken();
    }
  }

  private static RuntimeException notAdvancing() {
    return Status.INTERNAL
        .withDescription("the page is none of what is left of the scan")
        .asRuntimeException();
  }
}

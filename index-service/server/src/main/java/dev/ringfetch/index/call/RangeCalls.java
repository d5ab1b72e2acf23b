package dev.ringfetch.index.call;

import dev.ringfetch.index.filter.EntryFilter;
import dev.ringfetch.index.filter.FieldSum;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.layout.ScanCursor;
import dev.ringfetch.index.outcome.NumberedClient;
import dev.ringfetch.index.v1.CountRequest;
import dev.ringfetch.index.v1.CountResponse;
import dev.ringfetch.index.v1.DeleteRangeRequest;
import dev.ringfetch.index.v1.DeleteRangeResponse;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.ScanRequest;
import dev.ringfetch.index.v1.ScanResponse;
import io.grpc.Status;
import io.grpc.StatusException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The calls of an Index service for ranges of ordered indexes, and for all keys of hash indexes.
 * Checks requests and begins the calls; an index that is not there has no entries.
 *
 * <p>Safe for use by many threads.
 */
public final class RangeCalls {
  /** The most scans of snapshots at a time. */
  public static final int MAX_SNAPSHOTS = 16;

  private final Outcomes outcomes;
  private final Executor executor;

  /** Scans of snapshots that are under way. */
  private final AtomicInteger snapshots = new AtomicInteger();

  /**
   * Creates the calls.
   *
   * @param executor takes the steps of a call after its first
   */
  public RangeCalls(Outcomes outcomes, Executor executor) {
    this.outcomes = outcomes;
    this.executor = executor;
  }

  Outcomes outcomes() {
    return outcomes;
  }

  Executor executor() {
    return executor;
  }

  /**
   * Scans.
   *
   * @param index null if there is none
   * @param all whether all pages are answers, not the first alone
   */
  public void scan(
      ServedIndex index, ScanRequest request, CallSignals<ScanResponse> signals, boolean all)
      throws StatusException {
    final EntryFilter filter = RequestLimits.checkFilter(request.hasFilter(), request.getFilter());
    if (index != null && index.kind() == IndexKind.HASH && needsNoOrder(request)) {
      new HashScanCall(index, filter, request, signals, this, all).start();
      return;
    }
    checkOrdered(index);
    final ScanCursor cursor =
        Ranges.cursor(
            request.getRange(),
            request.getReverse(),
            request.getPageToken(),
            index == null ? 0 : index.incarnation());
    if (index == null) {
      if (!all) {
        signals.responses().onNext(ScanResponse.getDefaultInstance());
      }
      signals.responses().onCompleted();
    } else if (request.getSnapshot()) {
      new SnapshotScanCall(new RangeReading(index, cursor, filter), request, signals, this, all)
          .start();
    } else {
      new ScanCall(new RangeReading(index, cursor, filter), request, signals, this, all).start();
    }
  }

  private static boolean needsNoOrder(ScanRequest request) {
    return request.getUnordered()
        && Ranges.isAll(request.getRange())
        && !request.getReverse()
        && !request.getSnapshot();
  }

  /** Counts a scan of a snapshot that begins; false if there are too many. */
  boolean beginSnapshot() {
    final boolean hasRoom = snapshots.incrementAndGet() <= MAX_SNAPSHOTS;
    if (!hasRoom) {
      snapshots.decrementAndGet();
    }
    return hasRoom;
  }

  /** Notes the end of a scan of a snapshot. */
  void endSnapshot() {
    snapshots.decrementAndGet();
  }

  /**
   * Removes the entries of a range.
   *
   * @param index null if there is none
   * @param client null if the request has no number
   */
  public void deleteRange(
      ServedIndex index,
      @Nullable NumberedClient client,
      DeleteRangeRequest request,
      CallSignals<DeleteRangeResponse> signals)
      throws StatusException {
    checkOrdered(index);
    final ScanCursor cursor = Ranges.cursor(request.getRange(), false);
    if (index == null) {
      WriteCall.answer(signals.responses(), DeleteRangeResponse.getDefaultInstance());
    } else {
      new DeleteRangeCall(new RangeReading(index, cursor, null), client, request, signals, this)
          .start();
    }
  }

  /** Counts the entries of a range; the index is null if there is none. */
  public void count(ServedIndex index, CountRequest request, CallSignals<CountResponse> signals)
      throws StatusException {
    checkOrdered(index);
    final ScanCursor cursor = Ranges.cursor(request.getRange(), false);
    final EntryFilter filter = RequestLimits.checkFilter(request.hasFilter(), request.getFilter());
    final FieldSum sum = RequestLimits.checkSummary(request.hasSummary(), request.getSummary());
    if (index == null) {
      CountCall.answerNothing(signals, sum);
    } else {
      new CountCall(new RangeReading(index, cursor, filter), sum, signals, this).start();
    }
  }

  private static void checkOrdered(ServedIndex index) throws StatusException {
    checkKind(index, IndexKind.ORDERED, "keys of this index have no order");
  }

  /** Checks the kind of an index, if there is one. */
  static void checkKind(@Nullable ServedIndex index, IndexKind kind, String otherwise)
      throws StatusException {
    if (index != null && index.kind() != kind) {
      throw Status.FAILED_PRECONDITION
          .withDescription(
              otherwise
                  + ": index="
                  + index.name()
                  + " kind="
                  + index.kind()
                  + "; create one of kind "
                  + kind)
          .asException();
    }
  }
}

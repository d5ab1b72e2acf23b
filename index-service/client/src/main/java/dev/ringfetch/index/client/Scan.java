package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.CountRequest;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.KeyRange;
import dev.ringfetch.index.v1.ScanRequest;
import dev.ringfetch.index.v1.ScanResponse;
import java.time.Duration;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Spliterator;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * A read of a range of an {@link OrderedIndex}, or of a {@link HashIndex#scan HashIndex}, which
 * begins with {@link #iterator}, {@link #stream} or {@link #toList}, each time anew.
 *
 * <p>Of an ordered index, a key that exists during the whole scan comes once; a key that is written
 * or removed meanwhile may come or not; no key comes twice. Pages are fetched on demand, each with
 * the view's deadline; those of a view with another {@link Access} than calls come out of the
 * index's memory if the server grants that. The server keeps no state between two pages. A {@link
 * #snapshot} is the exception: close its iterator or stream.
 *
 * <p>Immutable: each setting returns another scan. Safe for use by many threads.
 *
 * @param <T> entries or keys.
 */
public final class Scan<T> implements Iterable<T> {
  /** Default lifetime of a snapshot. */
  public static final Duration SNAPSHOT_LIFETIME_DEFAULT = Duration.ofMinutes(1);

  private final View<?, ?> view;
  private final DirectRoute direct; // null: all goes by calls
  private final BiFunction<Subject, Entry, T> decoder;
  private final Options options;

  /** The request of the first page, and the lifetime of a snapshot. */
  record Options(ScanRequest request, long lifetimeNs) {
    Call<ScanRequest, ScanResponse> call() {
      return Call.reading(IndexGrpc.getScanMethod(), request);
    }
  }

  private Scan(
      View<?, ?> view, DirectRoute direct, BiFunction<Subject, Entry, T> decoder, Options options) {
    this.view = view;
    this.direct = direct;
    this.decoder = decoder;
    this.options = options;
  }

  static <T> Scan<T> of(
      View<?, ?> view,
      DirectRoute direct,
      KeyRange range,
      boolean keysOnly,
      BiFunction<Subject, Entry, T> decoder) {
    final ScanRequest request =
        ScanRequest.newBuilder()
            .setIndex(view.requests().name())
            .setRange(range)
            .setKeysOnly(keysOnly)
            .build();
    return new Scan<>(
        view, direct, decoder, new Options(request, SNAPSHOT_LIFETIME_DEFAULT.toNanos()));
  }

  private Scan<T> with(ScanRequest.Builder request) {
    return new Scan<>(view, direct, decoder, new Options(request.build(), options.lifetimeNs));
  }

  /** In any order, and keys perhaps more than once: as a hash index has them. */
  Scan<T> unordered() {
    return with(options.request.toBuilder().setUnordered(true));
  }

  /** From the greatest key to the smallest. */
  public Scan<T> reverse() {
    return with(options.request.toBuilder().setReverse(true));
  }

  /** Limits the scan to this number of entries, at least 1. */
  public Scan<T> limit(long most) {
    if (most < 1) {
      throw new IllegalArgumentException("limit=" + most + " is not positive");
    }
    return with(options.request.toBuilder().setLimit(most));
  }

  /**
   * Sets the number of entries of a page, at least 1. By default the server chooses it; it may
   * always send fewer.
   */
  public Scan<T> pageSize(int entries) {
    if (entries < 1) {
      throw new IllegalArgumentException("pageSize=" + entries + " is not positive");
    }
    return with(options.request.toBuilder().setPageSize(entries));
  }

  /**
   * Reads all entries as of the begin of the scan, for up to {@link #SNAPSHOT_LIFETIME_DEFAULT}.
   * The server keeps the snapshot until the scan has ended or is closed. Unlike other scans, it is
   * not repeated after the loss of the server once its first page has come, and it goes by calls in
   * a {@link Access#DIRECT} view as well: only the server has the entries that were replaced since
   * the begin.
   */
  public Scan<T> snapshot() {
    return with(options.request.toBuilder().setSnapshot(true));
  }

  /** As {@link #snapshot()}; ends in DEADLINE_EXCEEDED after a lifetime. */
  public Scan<T> snapshot(Duration lifetime) {
    final ScanRequest request = options.request.toBuilder().setSnapshot(true).build();
    return new Scan<>(view, direct, decoder, new Options(request, View.checkDeadline(lifetime)));
  }

  /**
   * Limits the scan to the entries that a filter accepts. The server evaluates it, or this client
   * while it reads memory. A page may have none of them.
   */
  public Scan<T> where(Filter filter) {
    return with(options.request.toBuilder().setFilter(filter.message()));
  }

  /**
   * Counts the entries by one call, each as it is when it is read; the limit of a scan does not
   * count.
   */
  public long count() {
    return counted().entries();
  }

  /**
   * Sums up a number of the entries by one call. A sum that leaves 64 bits wraps around, as in
   * {@link LongSummaryStatistics}.
   */
  public LongSummaryStatistics summarizeLongs(Field<Long> field) {
    return counted().longs(field);
  }

  /** As {@link #summarizeLongs}, of a floating-point number. */
  public DoubleSummaryStatistics summarizeDoubles(Field<Double> field) {
    return counted().doubles(field);
  }

  private EntryCount counted() {
    final CountRequest.Builder request =
        CountRequest.newBuilder()
            .setIndex(options.request.getIndex())
            .setRange(options.request.getRange());
    return new EntryCount(
        view,
        (options.request.hasFilter() ? request.setFilter(options.request.getFilter()) : request)
            .build());
  }

  private Subject subject() {
    return view.subject(Operation.SCAN, null);
  }

  /** Begins the scan; nothing is fetched yet. */
  @Override
  public ScanIterator<T> iterator() {
    final Subject subject = subject();
    return new ScanIterator<>(pages(subject), entry -> decoder.apply(subject, entry));
  }

  private Pages pages(Subject subject) {
    if (options.request.getSnapshot()) {
      return new StreamedPages(
          view.calls(), subject, view.timeoutNs(), options.call(), options.lifetimeNs);
    }
    return direct == null
        ? new CalledPages(view.calls(), subject, view.timeoutNs(), options.request)
        : new DirectPages(view.calls(), direct, subject, view.timeoutNs(), options.request);
  }

  /** Begins the scan as a stream, whose close ends it. It is sequential. */
  public Stream<T> stream() {
    return iterator().stream(Spliterator.ORDERED | Spliterator.NONNULL);
  }

  /** Reads all. */
  public List<T> toList() {
    return iterator().toList();
  }

  /**
   * Reads the range without waiting.
   *
   * @param consumer receives each entry or key, in order, one at a time, on threads of the channel.
   * @return the number of those that the consumer got.
   */
  CallFuture<Long> forEachAsync(Consumer<? super T> consumer) {
    final Subject subject = subject();
    final CallFuture<Long> future =
        new CallFuture<>(view.calls().begin(subject, view.timeoutNs()), view.known()::failed);
    final ScanDelivery<T> delivery =
        new ScanDelivery<>(consumer, entry -> decoder.apply(subject, entry), future);
    if (options.request.getSnapshot()) {
      delivery.stream(view.calls(), options.call(), options.lifetimeNs);
    } else {
      IndexCalls.proceed(
          future,
          () -> {
            view.calls().admit(future.run());
            delivery.call(view.calls(), new PageCalls(subject, options.request));
          });
    }
    return future;
  }
}

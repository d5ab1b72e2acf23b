package dev.ringfetch.index.call;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.google.protobuf.ByteString;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.journal.JournalReader;
import dev.ringfetch.index.layout.SpatialConditions;
import dev.ringfetch.index.layout.SpatialQuery;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.KeyRange;
import dev.ringfetch.index.v1.WatchRequest;
import dev.ringfetch.index.v1.WatchResponse;
import dev.ringfetch.index.watch.ChangeRing;
import dev.ringfetch.index.watch.EventBatch;
import dev.ringfetch.index.watch.RingBudget;
import dev.ringfetch.index.watch.WatchToken;
import io.grpc.Status;
import io.grpc.StatusException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The calls that watch the indexes of a server. Checks requests, bounds the number of calls, and
 * keeps the changes of an index as long as it is watched and {@value #KEEP_SECONDS} seconds longer,
 * so that a client that has lost its connection goes on without a loss.
 *
 * <p>A tick, while there is anything to do, sends tokens that are due and finds indexes that were
 * dropped.
 *
 * <p>Safe for use by many threads.
 */
public final class WatchCalls {
  /** The most watches of a server. */
  public static final int MAX_WATCHES = 1024;

  /** How long the changes of an index are kept that has no watch any more. */
  public static final int KEEP_SECONDS = 60;

  /** How long nothing is sent at most. */
  private static final int PROGRESS_MILLIS = 1000;

  private static final int TICK_MILLIS = 100;
  private static final ByteString ZERO = ByteString.copyFrom(new byte[1]);

  /**
   * The threads that drive the calls.
   *
   * @param executor runs one task at a time
   * @param later runs a task after a tick's time
   * @param historian runs one task at a time, beside the executor: it reads the journal
   */
  record Drive(Executor executor, Executor later, Executor historian) {}

  private final Outcomes outcomes;
  private final Supplier<JournalReader> journal;
  private final Drive drive;
  private final RingBudget budget;
  private final AtomicInteger open = new AtomicInteger();
  private final AtomicBoolean ticking = new AtomicBoolean();
  private volatile LongSupplier clock = System::nanoTime;
  private volatile boolean ending;

  @GuardedBy("this")
  private final Map<ServedIndex, IndexFeeds> feeds = new HashMap<>();

  /** Feeds without watches, whose partitions are still to be told. Of the tick. */
  private final List<IndexFeeds> leaving = new ArrayList<>();

  /**
   * Creates the calls of a server.
   *
   * @param outcomes the server's statuses
   * @param journal gives the reader of the journal, where an index is in it
   */
  public WatchCalls(
      Outcomes outcomes, Supplier<JournalReader> journal, Executor watcher, Executor historian) {
    this.outcomes = outcomes;
    this.journal = journal;
    drive =
        new Drive(
            watcher,
            CompletableFuture.delayedExecutor(TICK_MILLIS, TimeUnit.MILLISECONDS, watcher),
            historian);
    budget = new RingBudget(RingBudget.BYTES_DEFAULT);
  }

  Outcomes outcomes() {
    return outcomes;
  }

  public RingBudget budget() {
    return budget;
  }

  long nowNs() {
    return clock.getAsLong();
  }

  /** Sets another clock, in nanoseconds. */
  public void clock(LongSupplier nanoseconds) {
    clock = nanoseconds;
  }

  /** Where watches read the journal. */
  Executor historian() {
    return drive.historian();
  }

  /** Number of watches. */
  public int open() {
    return open.get();
  }

  /** Whether no changes are kept. */
  public synchronized boolean isIdle() {
    return feeds.isEmpty();
  }

  /**
   * Begins a watch.
   *
   * @param index null if there is none
   */
  public void watch(
      @Nullable ServedIndex index, WatchRequest request, CallSignals<WatchResponse> signals)
      throws StatusException {
    if (index == null) {
      throw Outcomes.absent(request.getIndex()).asException();
    }
    final WatchCall.Subject subject = subject(index, request);
    if (ending) {
      throw ended().asException();
    }
    if (open.incrementAndGet() > MAX_WATCHES) {
      open.decrementAndGet();
      throw Status.RESOURCE_EXHAUSTED
          .withDescription("too many watches: limit=" + MAX_WATCHES + " a server")
          .asException();
    }
    final IndexFeeds of;
    final WatchCall call;
    synchronized (this) {
      of =
          feeds.computeIfAbsent(
              index, unused -> new IndexFeeds(index, journal(index), budget, drive.executor()));
      call = new WatchCall(this, of, subject, signals);
      of.calls().add(call);
      final long unused = of.idleSince(nowNs());
    }
    try {
      call.open();
    } catch (RuntimeException | Error e) {
      left(of, call); // it would be counted for ever
      throw e;
    }
    tickLater();
  }

  /**
   * Keeps the changes of an index that this node leads from now on, before calls come: watches of
   * the leader before go on here.
   *
   * @param kept the newest changes, by partition
   */
  public void lead(ServedIndex index, ChangeRing[] kept) {
    final IndexFeeds of = new IndexFeeds(index, journal(index), budget, drive.executor());
    of.lead(kept, nowNs());
    synchronized (this) {
      feeds.put(index, of);
    }
    tickLater();
  }

  /** The journal in which older changes are; null if there is none that has them in order. */
  private @Nullable JournalReader journal(ServedIndex index) {
    return index.leadership().isOnly() && index.durability() != Durability.MEMORY
        ? journal.get()
        : null;
  }

  private static WatchCall.Subject subject(ServedIndex index, WatchRequest request)
      throws StatusException {
    final KeyRange range = request.getRange();
    RequestLimits.checkRange(range);
    final SpatialQuery box = box(index, request);
    final boolean isKey = range.getEnd().equals(range.getStart().concat(ZERO));
    int partition = -1;
    if (isKey && !range.getStart().isEmpty()) {
      partition = index.partitionOf(range.getStart());
    } else if (index.kind() != IndexKind.ORDERED && !Ranges.isAll(range)) {
      throw Status.FAILED_PRECONDITION
          .withDescription(
              "keys of this index have no order, watch all or one: index="
                  + index.name()
                  + " kind="
                  + index.kind())
          .asException();
    }
    final int progress = request.getProgressMs() == 0 ? PROGRESS_MILLIS : request.getProgressMs();
    if (progress < TICK_MILLIS || progress > PROGRESS_MILLIS) {
      throw Status.INVALID_ARGUMENT
          .withDescription(
              "progress_ms=" + progress + " is not from " + TICK_MILLIS + " to " + PROGRESS_MILLIS)
          .asException();
    }
    return new WatchCall.Subject(
        new EventBatch(
            Ranges.start(range),
            Ranges.end(range),
            box,
            RequestLimits.checkFilter(request.hasFilter(), request.getFilter()),
            request.getKeysOnly()),
        partition,
        token(index, request.getToken()),
        TimeUnit.MILLISECONDS.toNanos(progress - TICK_MILLIS)); // a tick comes in time
  }

  private static @Nullable SpatialQuery box(ServedIndex index, WatchRequest request)
      throws StatusException {
    if (!request.hasIntersects()) {
      return null;
    }
    if (!Ranges.isAll(request.getRange())) {
      throw RequestLimits.invalid("both a range and a box are set");
    }
    SpatialCalls.checkSpatial(index);
    return SpatialConditions.intersecting(request.getIntersects());
  }

  private static WatchToken token(ServedIndex index, ByteString bytes) throws StatusException {
    if (bytes.isEmpty()) {
      return null;
    }
    final WatchToken token = WatchToken.decode(bytes);
    if (token == null) {
      throw Status.INVALID_ARGUMENT.withDescription("not a token of a watch: token").asException();
    }
    if (token.incarnation() != index.incarnation() || token.partitions() != index.partitions()) {
      throw Status.ABORTED
          .withDescription(
              "the token is of another incarnation: the index was dropped, was in memory alone and"
                  + " its server has ended, or is a copy; read the entries again: index="
                  + index.name())
          .asException();
    }
    return token;
  }

  /** Why a watch of an index has to end; null if it has not. */
  @Nullable Status trouble(ServedIndex index) {
    if (index.isDropped()) {
      return Outcomes.dropped(index);
    }
    if (index.isRefused()) {
      return Outcomes.damaged(index);
    }
    if (!index.isServed()) {
      return Outcomes.turned(index);
    }
    if (index.durability() != Durability.MEMORY && outcomes.isJournalFailed()) {
      return outcomes.stopped();
    }
    return ending ? ended() : null;
  }

  private static Status ended() {
    return Status.UNAVAILABLE.withDescription("the server ends");
  }

  /** Notes the end of a watch. */
  void left(IndexFeeds of, WatchCall call) {
    if (of.calls().remove(call)) {
      open.decrementAndGet();
    }
  }

  private void tickLater() {
    if (ticking.compareAndSet(false, true)) {
      try {
        drive.later().execute(this::tick);
      } catch (RejectedExecutionException | OutOfMemoryError e) { // it ends, or has no thread
        ticking.set(false);
      }
    }
  }

  private void tick() {
    ticking.set(false);
    final List<IndexFeeds> watched = new ArrayList<>();
    boolean idle;
    synchronized (this) {
      final long nowNs = nowNs();
      feeds
          .values()
          .removeIf(
              of -> {
                final boolean leaves =
                    nowNs - of.idleSince(nowNs) >= TimeUnit.SECONDS.toNanos(KEEP_SECONDS)
                        || (of.calls().isEmpty() && of.index().isDropped());
                if (leaves) {
                  leaving.add(of);
                }
                return leaves;
              });
      watched.addAll(feeds.values());
      idle = feeds.isEmpty();
    }
    for (final IndexFeeds of : watched) {
      of.calls().forEach(WatchCall::drive);
    }
    leaving.removeIf(IndexFeeds::end);
    if (!idle || !leaving.isEmpty()) {
      tickLater();
    }
  }

  private void each(Consumer<WatchCall> action) {
    final List<IndexFeeds> watched;
    synchronized (this) {
      watched = List.copyOf(feeds.values());
    }
    try {
      drive.executor().execute(() -> watched.forEach(of -> of.calls().forEach(action)));
    } catch (RejectedExecutionException e) {
      // The memory was closed, after the server's calls had ended.
    }
  }

  /** Sends all watches their token: part of the journal is about to be removed. */
  public void progress() {
    each(WatchCall::progress);
  }

  /** Ends all watches, and refuses later ones. */
  public void end() {
    ending = true;
    each(call -> call.end(ended()));
  }
}

package dev.ringfetch.index.direct;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.filter.EntryChain;
import dev.ringfetch.index.filter.EntryFilter;
import dev.ringfetch.index.layout.BlockDescriptor;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.NearestEntries;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.layout.SpatialConditions;
import dev.ringfetch.index.layout.SpatialQuery;
import dev.ringfetch.index.v1.BatchGetRequest;
import dev.ringfetch.index.v1.BatchGetResponse;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.FollowRequest;
import dev.ringfetch.index.v1.FollowResponse;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.NearestRequest;
import dev.ringfetch.index.v1.NearestResponse;
import dev.ringfetch.index.v1.ScanResponse;
import io.grpc.Channel;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.StatusRuntimeException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A client's reader of one index: reads the memory of the index itself, without the server's
 * processor, if the server grants it, and makes calls otherwise. Both routes give the same
 * guarantee: a read returns a state of some moment between its begin and its end.
 *
 * <p>If memory shows that the grant is over (another server has taken over, the index was dropped,
 * or the server has ended the session), the reader makes calls and requests another grant
 * meanwhile. The memory of a killed server with a data directory stays readable until its successor
 * moves the gate. Without a data directory, the reader detects the end of the server within about a
 * second, and until then reads the {@link #incarnation} that has ended.
 *
 * <p>An index of a cluster is read in its leader's memory, if the gates of all members are
 * reachable: a read counts if all members still obey the leader's epoch after it. If the leader or
 * the members change, the reader makes calls until it has another grant.
 *
 * <p>Over a fabric that maps no memory (verbs), a key takes two round trips of READs once the
 * reader knows where the tables of a hash index are, or remembers the inner nodes of an ordered
 * one; several keys together take no more. A key that seems absent from a hash or a spatial index
 * takes a call. A scan takes two round trips for each leaf, of up to 48 entries. Over such a
 * fabric, memory ends with the server's process.
 *
 * <p>Used by one thread at a time. Reads throw {@link io.grpc.StatusRuntimeException} if a call
 * fails, and take no longer than {@link DirectContext#timeout()}.
 */
public final class DirectReader implements AutoCloseable {
  /** Steps after which a scan or a search with a filter returns, though it has given nothing. */
  private static final int FILTERED_STEPS = 64;

  /** Limit of undecided reads of a key; then a call decides. */
  static final int ATTEMPTS = 4;

  /** Bytes of keys in one call: a server accepts requests of 4 MiB by default. */
  private static final int CALL_BYTES = 2 << 20;

  /** Bytes of the nearest entries, or of a chain, beyond which a call says that it is too long. */
  private static final int LONGEST_BYTES = 4 << 20;

  private enum State {
    OPEN,
    /** A sink receives entries: no other use of the reader is allowed meanwhile. */
    SCANNING,
    CLOSED
  }

  private final String index;
  private long timeoutNs;
  private final IndexGrpc.IndexBlockingStub stub;
  private final IndexGrant grant;
  private final ScanStep step = new ScanStep();
  private State state = State.OPEN;
  private long retries;
  private long limits;
  private long callReads;
  private long scanCalls;

  private DirectReader(Channel channel, String index, DirectContext context) {
    this.index = index;
    this.timeoutNs = context.timeout().toNanos();
    this.stub = IndexGrpc.newBlockingStub(channel);
    this.grant = IndexGrant.open(channel, index, context);
  }

  /** Opens a reader with the default options. */
  public static DirectReader open(Channel channel, String index) {
    return open(channel, index, new DirectContext());
  }

  /**
   * Opens a reader, and waits for its first grant, or for the refusal, for {@link
   * DirectContext#grantWait()} at most. A missing grant is no failure.
   *
   * @param channel to the server, or to all nodes of a cluster if it obeys {@link NodeAddress}; the
   *     reader does not close it.
   * @param index name of the index; empty for "default".
   */
  public static DirectReader open(Channel channel, String index, DirectContext context) {
    final DirectReader reader = new DirectReader(channel, index, context);
    reader.grant.await(context.grantWait().toNanos());
    return reader;
  }

  /**
   * Sets how long each later read may take.
   *
   * @param timeoutNs in nanoseconds, up to {@link DirectContext#timeout()}.
   */
  public void timeoutNs(long timeoutNs) {
    this.timeoutNs = timeoutNs;
  }

  /**
   * Looks a key up.
   *
   * @param value receives value and version if there is an entry, and the incarnation.
   * @return whether there is an entry.
   */
  public boolean get(ByteString key, DirectValue value) {
    final long deadlineNs = prepare();
    final DirectLook look = look(key, value, deadlineNs);
    if (look != DirectLook.UNDECIDED) {
      return look == DirectLook.FOUND;
    }
    callReads++;
    final GetResponse response =
        stub(deadlineNs).get(GetRequest.newBuilder().setIndex(index).setKey(key).build());
    value.incarnation(response.getIncarnation());
    return isFound(response, value.found());
  }

  /**
   * Looks a key up in memory, and makes no call for it. The answer counts as that of {@link #get}.
   * Over a fabric that maps memory it does not wait; a new grant takes some time to connect.
   *
   * @param value receives value and version if there is an entry, and the incarnation.
   */
  public DirectLook look(ByteString key, DirectValue value) {
    return look(key, value, prepare());
  }

  private DirectLook look(ByteString key, DirectValue value, long deadlineNs) {
    // Illegal keys go by a call, which reports the error.
    final boolean legal = !key.isEmpty() && key.size() <= BlockDescriptor.MAX_KEY_LENGTH;
    for (int i = 0; legal && isDirect() && i < ATTEMPTS; i++) {
      final GrantedIndex granted = grant.granted();
      granted.until(deadlineNs);
      final ReadResult result = granted.get(key, value.found());
      if (result == ReadResult.FOUND || result == ReadResult.ABSENT) {
        grant.served(1);
        value.incarnation(granted.incarnation());
        return result == ReadResult.FOUND ? DirectLook.FOUND : DirectLook.ABSENT;
      }
      final boolean mayDecide = granted.mayDecide();
      afterFailure(result);
      if (result == ReadResult.LIMIT || !mayDecide) {
        break; // the owner decides
      }
    }
    return DirectLook.UNDECIDED;
  }

  /**
   * Looks several keys up, each on its own: writes may come between two of them. If one answer
   * would be too long, it makes several calls.
   *
   * @param keys the keys, at most 10,000.
   * @param values receives, at the place of each key, value and version if there is an entry, and
   *     the incarnation.
   * @param present receives, at the place of each key, whether there is an entry.
   */
  public void batchGet(List<ByteString> keys, DirectValue[] values, boolean[] present) {
    if (values.length < keys.size() || present.length < keys.size()) {
      throw new IllegalArgumentException(
          "keys=" + keys.size() + " values=" + values.length + " present=" + present.length);
    }
    final Found[] found = new Found[keys.size()];
    for (int i = 0; i < found.length; i++) {
      found[i] = values[i].found();
    }
    final long deadlineNs = prepare();
    final List<Integer> left = new ArrayList<>();
    final GrantedIndex granted = grant.granted();
    if (granted == null) {
      for (int i = 0; i < keys.size(); i++) {
        left.add(i);
      }
    } else {
      final long incarnation = granted.incarnation();
      final ReadResult[] results = new ReadResult[keys.size()];
      granted.until(deadlineNs);
      granted.batchGet(keys, found, results);
      for (int i = 0; i < results.length; i++) {
        if (results[i] == ReadResult.FOUND || results[i] == ReadResult.ABSENT) {
          present[i] = results[i] == ReadResult.FOUND;
          values[i].incarnation(incarnation);
          grant.served(1);
        } else {
          left.add(i);
          if (isDirect()) {
            afterFailure(results[i]);
          }
        }
      }
    }
    if (!left.isEmpty()) {
      callReads += left.size();
      call(keys, left, values, present, deadlineNs);
    }
  }

  /**
   * Continues a scan of an ordered index until it ends or the sink stops it. A key that exists
   * during the whole scan comes once, in order; a key that is written or removed meanwhile may come
   * or not; no key comes twice. If memory does not decide, or the grant ends, the scan continues by
   * calls after its last entry, and later directly again.
   *
   * <p>With a filter it returns after some 64,000 entries at the latest, given or not, and after
   * each call; once it goes by calls, the servers filter, to its end.
   *
   * <p>The timeout limits each call, and each 1,000 entries. After an exception the same scan can
   * be continued, unless the status is ABORTED.
   *
   * @param scan the range and the present position; another reader may have begun it.
   * @param sink receives each entry; it must not use this reader. Over verbs, a sink that takes
   *     half the timeout for the entries of one step ends the connection, and the scan continues by
   *     calls.
   * @return whether entries may be left: false at the end of the range.
   * @throws StatusRuntimeException if a call fails: INVALID_ARGUMENT for bounds that are too long,
   *     FAILED_PRECONDITION if the index has no order; ABORTED if the index was dropped since the
   *     scan's begin, or its server has ended.
   */
  public boolean scan(DirectScan scan, DirectSink sink) {
    boolean wants = true;
    int failures = 0;
    int steps = 0;
    while (wants && !scan.isDone()) {
      final long deadlineNs = prepare();
      final GrantedIndex granted = grant.granted();
      if (mayRead(scan, granted) && failures < ATTEMPTS) {
        failures = step(scan, sink, deadlineNs) ? 0 : failures + 1;
        wants = step.wantsMore() && !(scan.filter() != null && ++steps == FILTERED_STEPS);
        continue;
      }
      failures = 0;
      scanCalls++;
      state = State.SCANNING;
      try {
        final ScanResponse page = stub(deadlineNs).scanPage(scan.request(index));
        callReads += page.getEntriesCount();
        wants = step.take(scan, sink, page) && scan.filter() == null;
      } finally {
        state = State.OPEN;
      }
    }
    return !scan.isDone();
  }

  /**
   * Continues a search of a spatial index in memory, and makes no call, until it ends or the sink
   * stops it. An entry whose box belongs to the answer during the whole search comes once, even if
   * it moves; an entry that is written or removed meanwhile may come or not; no id comes twice.
   * With a filter it returns after a bounded number of entries, as {@link #scan} does. If memory
   * has given nothing for the timeout, a call has to go on.
   *
   * @param search the condition, and what was given; another reader may have begun it.
   * @param sink receives each entry, as that of a {@link #scan}.
   * @return {@link DirectLook#ABSENT} if no entry is left, {@link DirectLook#FOUND} if it has
   *     stopped and may continue, {@link DirectLook#UNDECIDED} if the call of {@link
   *     DirectSearch#request} has to go on.
   */
  public DirectLook search(DirectSearch search, DirectSink sink) {
    boolean wants = true;
    int failures = 0; // since the last entry
    int steps = 0;
    long endNs = 0; // 0: not begun
    while (wants && !search.isDone()) {
      final long deadlineNs = prepare();
      endNs = endNs == 0 ? System.nanoTime() + timeoutNs : endNs;
      if (!mayRead(search, grant.granted())
          || failures == ATTEMPTS
          || System.nanoTime() - endNs >= 0) {
        return DirectLook.UNDECIDED;
      }
      failures += step(search, sink, deadlineNs) ? 0 : 1;
      if (step.given() > 0) {
        failures = 0;
        endNs = 0;
      }
      wants = step.wantsMore() && !(search.filter() != null && ++steps == FILTERED_STEPS);
    }
    return search.isDone() ? DirectLook.ABSENT : DirectLook.FOUND;
  }

  /**
   * The entries of a spatial index that are nearest to a point, out of memory; makes no call. With
   * a filter it looks at a bounded number of entries, as {@link #search} does.
   *
   * @param request its index is ignored.
   * @return null if a call has to decide, also after the timeout, or to report what is not legal.
   */
  public NearestResponse nearest(NearestRequest request) {
    final SpatialQuery query;
    final EntryFilter filter;
    try {
      query = SpatialConditions.of(request);
      filter = request.hasFilter() ? new EntryFilter(request.getFilter()) : null;
    } catch (StatusException | IllegalArgumentException e) { // the call ends so, too
      return null;
    }
    final NearestEntries nearest = new NearestEntries(query, request.getLimit(), LONGEST_BYTES);
    final DirectSearch search = new DirectSearch(query, filter);
    final DirectLook look =
        search(
            search,
            entry -> {
              nearest.add(
                  entry.array(),
                  entry.keyOffset(),
                  entry.keyLength(),
                  entry.valueLength(),
                  entry.version(),
                  entry.deadline());
              return true;
            });
    return look == DirectLook.ABSENT && !nearest.isTooLong()
        ? nearest.response(search.incarnation())
        : null;
  }

  /**
   * A chain of entries out of memory, each as it was when its turn came; makes no call.
   *
   * @param request its index is ignored.
   * @return null if a call has to decide, or to report what is not legal.
   */
  public FollowResponse follow(FollowRequest request) {
    final EntryChain chain;
    try {
      chain = new EntryChain(request, LONGEST_BYTES);
    } catch (IllegalArgumentException e) { // the call ends so, too
      return null;
    }
    final DirectValue value = new DirectValue();
    final long deadlineNs = prepare(); // of all hops
    boolean goesOn = true;
    while (goesOn) {
      final DirectLook look =
          System.nanoTime() - deadlineNs < 0
              ? look(chain.key(), value, deadlineNs)
              : DirectLook.UNDECIDED;
      if (look == DirectLook.UNDECIDED || !chain.isOf(value.incarnation())) {
        return null;
      }
      goesOn = chain.take(look == DirectLook.ABSENT ? null : entry(chain.key(), value));
    }
    return chain.isTooLong() ? null : chain.response();
  }

  private static Entry entry(ByteString key, DirectValue value) {
    return Entry.newBuilder()
        .setKey(key)
        .setValue(value.value())
        .setVersion(value.version())
        .setDeadlineMs(value.deadline())
        .build();
  }

  /** Whether memory may be read on; ends the grant if it is of another index than before. */
  private boolean mayRead(DirectReading reading, GrantedIndex granted) {
    if (granted == null || !reading.isLegal() || !reading.fits(granted)) {
      return false;
    }
    final boolean isSame = reading.isOf(granted.incarnation());
    if (!isSame) {
      grant.end(ReadResult.CLOSED); // this index or the former one was dropped: a call decides
    }
    return isSame;
  }

  /** Reads on in memory; false if that gave nothing, and has failed. */
  private boolean step(DirectReading reading, DirectSink sink, long deadlineNs) {
    final GrantedIndex granted = grant.granted();
    granted.until(deadlineNs);
    final ReadResult result;
    state = State.SCANNING;
    try {
      result = step.read(reading, sink, granted);
    } finally {
      state = State.OPEN;
    }
    grant.served(step.given());
    if (result == ReadResult.FOUND || result == ReadResult.ABSENT) {
      return true;
    }
    afterFailure(result);
    return step.given() > 0;
  }

  /**
   * Reads the keys at some positions by calls, with fewer keys per call if an answer is too long.
   */
  private void call(
      List<ByteString> keys,
      List<Integer> places,
      DirectValue[] values,
      boolean[] present,
      long deadlineNs) {
    int most = places.size();
    int done = 0;
    while (done < places.size()) {
      final BatchGetRequest.Builder request = BatchGetRequest.newBuilder().setIndex(index);
      int bytes = 0;
      for (int i = done; i < places.size() && i - done < most && bytes < CALL_BYTES; i++) {
        final ByteString key = keys.get(places.get(i));
        request.addKeys(key);
        bytes += key.size();
      }
      final int count = request.getKeysCount();
      try {
        final BatchGetResponse response = stub(deadlineNs).batchGet(request.build());
        for (int i = 0; i < count; i++) {
          final int place = places.get(done + i);
          values[place].incarnation(response.getIncarnation());
          present[place] = isFound(response.getAnswers(i), values[place].found());
        }
        done += count;
      } catch (StatusRuntimeException e) {
        if (e.getStatus().getCode() != Status.Code.RESOURCE_EXHAUSTED || count == 1) {
          throw e;
        }
        most = count / 2; // one entry always has room
      }
    }
  }

  private static boolean isFound(GetResponse response, Found found) {
    if (response.hasEntry()) {
      final Entry entry = response.getEntry();
      found.set(entry.getValue(), entry.getVersion(), entry.getDeadlineMs());
    }
    return response.hasEntry();
  }

  /** Checks the state and uses a new grant, if one has come. Returns the deadline of the read. */
  private long prepare() {
    if (state != State.OPEN) {
      throw new IllegalStateException(
          state == State.CLOSED ? "the reader is closed" : "a sink cannot use the scan's reader");
    }
    final long nowNs = System.nanoTime();
    final long deadlineNs = nowNs + timeoutNs;
    if (grant.poll(nowNs, deadlineNs)) { // to use it may take long on a busy host
      final long leastNs = System.nanoTime() + timeoutNs / 2; // left for a call
      return leastNs - deadlineNs > 0 ? leastNs : deadlineNs;
    }
    return deadlineNs;
  }

  private void afterFailure(ReadResult result) {
    switch (result) {
      case UNDECIDED -> {
        retries++;
        Thread.onSpinWait();
      }
      case CLOSED, LOST -> grant.end(result);
      case LIMIT -> limits++;
      case FOUND, ABSENT -> throw new IllegalArgumentException("result=" + result);
    }
  }

  private IndexGrpc.IndexBlockingStub stub(long deadlineNs) {
    final IndexGrpc.IndexBlockingStub limited =
        stub.withDeadlineAfter(deadlineNs - System.nanoTime(), TimeUnit.NANOSECONDS);
    return grant.awaitsServer() ? limited.withWaitForReady() : limited;
  }

  /** Whether the next read is tried directly. */
  public boolean isDirect() {
    return grant.granted() != null;
  }

  /**
   * The incarnation of the index that direct reads use, as in answers to calls; 0 while reads go by
   * calls.
   */
  public long incarnation() {
    return isDirect() ? grant.granted().incarnation() : 0;
  }

  /** Why the next read goes by a call; null while {@link #isDirect()}. */
  public String obstacle() {
    return grant.obstacle();
  }

  /** Number of keys looked up, and of entries scanned, directly. */
  public long directReads() {
    return grant.reads();
  }

  /**
   * Number of undecided direct look-ups and steps of scans, which were repeated or went by a call.
   */
  public long retries() {
    return retries;
  }

  /** Number of direct look-ups that went by a call because too many keys have the same hash. */
  public long limits() {
    return limits;
  }

  /** Number of keys looked up, and of entries scanned, by calls. */
  public long callReads() {
    return callReads;
  }

  /** Number of calls for pages of scans. */
  public long scanCalls() {
    return scanCalls;
  }

  /** Number of grants that ended because memory was closed or lost. */
  public long turns() {
    return grant.turns();
  }

  /** Ends the grant. Idempotent. */
  @Override
  public void close() {
    if (state == State.CLOSED) {
      return;
    }
    if (state == State.SCANNING) {
      throw new IllegalStateException("a sink cannot close the scan's reader");
    }
    state = State.CLOSED;
    grant.close();
  }
}

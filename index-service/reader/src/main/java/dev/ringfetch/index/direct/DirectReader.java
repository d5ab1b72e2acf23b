package dev.ringfetch.index.direct;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.BlockDescriptor;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.v1.BatchGetRequest;
import dev.ringfetch.index.v1.BatchGetResponse;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.ScanResponse;
import io.grpc.Channel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A client's reader of one index: reads the memory of the index itself where the server grants it,
 * without the server's processor, and by calls where not. Both ways see the same: a read returns
 * what was stored at some moment between its begin and its end.
 *
 * <p>Where memory says that the grant is over (another server has taken over, the index was
 * dropped, the server has ended the session), the reader goes by calls and asks for another grant
 * meanwhile. Memory of a server that was killed stays readable until its successor moves the gate,
 * where it has a data directory; without one, the reader finds out within about a second that the
 * server has gone, and until then reads the {@link #incarnation} that has ended.
 *
 * <p>An index of a cluster is read in its leader's memory, if the gates of all members are reached:
 * what was read counts if all of them obey the leader's epoch then. Where another node leads, or
 * the members are others, the reader goes by calls until it has another grant.
 *
 * <p>Over a fabric that maps no memory (verbs), a key takes two round trips of READs once the
 * reader knows where the tables of a hash index are, or remembers the inner nodes of an ordered
 * one; several keys together take no more. A key that is absent from a hash index is asked for by a
 * call. A scan takes two round trips for each leaf, of up to 48 entries. There memory ends with the
 * server's process.
 *
 * <p>Used by one thread at a time. Reads throw {@link io.grpc.StatusRuntimeException} where a call
 * fails, and take no longer than {@link DirectContext#timeout()}.
 */
public final class DirectReader implements AutoCloseable {
  /** Reads of one key that may be undecided before it goes by a call: the call decides. */
  static final int ATTEMPTS = 4;

  /** Bytes of keys in one call: a server takes requests of 4 MiB unless set otherwise. */
  private static final int CALL_BYTES = 2 << 20;

  private enum State {
    OPEN,
    /** A sink takes entries: the reader is not used otherwise meanwhile. */
    SCANNING,
    CLOSED
  }

  private final String index;
  private final long timeoutNs;
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
    this.grant = new IndexGrant(channel, index, context);
  }

  /** Opens a reader with the default options. */
  public static DirectReader open(Channel channel, String index) {
    return open(channel, index, new DirectContext());
  }

  /**
   * Opens a reader, and waits for its first grant, or the reason why there is none, for {@link
   * DirectContext#grantWait()} at most. It never fails for want of a grant.
   *
   * @param channel to the server, or one to all nodes of a cluster that obeys {@link NodeAddress};
   *     the reader does not close it.
   * @param index name of the index; empty is "default".
   */
  public static DirectReader open(Channel channel, String index, DirectContext context) {
    final DirectReader reader = new DirectReader(channel, index, context);
    reader.grant.await(context.grantWait().toNanos());
    return reader;
  }

  /**
   * Looks a key up.
   *
   * @param value receives value and version if there is an entry, and the incarnation.
   * @return whether there is an entry.
   */
  public boolean get(ByteString key, DirectValue value) {
    final long deadlineNs = prepare();
    // Others go by a call, which says what is wrong.
    final boolean legal = !key.isEmpty() && key.size() <= BlockDescriptor.MAX_KEY_LENGTH;
    for (int i = 0; legal && isDirect() && i < ATTEMPTS; i++) {
      final GrantedIndex granted = grant.granted();
      granted.until(deadlineNs);
      final ReadResult result = granted.get(key, value.found());
      if (result == ReadResult.FOUND || result == ReadResult.ABSENT) {
        grant.served(1);
        value.incarnation(granted.incarnation());
        return result == ReadResult.FOUND;
      }
      final boolean mayDecide = granted.mayDecide();
      afterFailure(result);
      if (result == ReadResult.LIMIT || !mayDecide) {
        break; // the owner decides
      }
    }
    callReads++;
    final GetResponse response =
        stub(deadlineNs).get(GetRequest.newBuilder().setIndex(index).setKey(key).build());
    value.incarnation(response.getIncarnation());
    return isFound(response, value.found());
  }

  /**
   * Looks several keys up, each on its own: others may be written between two of them. Where it
   * goes by calls, it takes several of them if one answer would be too long.
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
   * Reads on in an ordered index, until the scan ends or the sink wants no more. Each key that is
   * there from the begin to the end of the scan comes once, in order, and no key comes twice; one
   * that is written or removed meanwhile may come or not. Where memory does not decide, or the
   * grant ends, the scan goes on by calls behind the last entry that it gave, and then directly
   * again.
   *
   * <p>The timeout limits each call, and each 1,000 entries. After an exception the same scan can
   * go on, unless its status is ABORTED.
   *
   * @param scan what to read, and how far it is; also one that another reader has begun.
   * @param sink gets each entry; it must not use this reader. Over verbs, a step whose entries it
   *     takes half the timeout for ends the connection, and the scan goes on by calls.
   * @return whether entries may be left: false at the end of the range.
   * @throws StatusRuntimeException where a call fails, as Scan does: INVALID_ARGUMENT for bounds
   *     that are too long, FAILED_PRECONDITION where the index has no order; ABORTED if the index
   *     was dropped since the scan's begin, or its server has ended.
   */
  public boolean scan(DirectScan scan, DirectSink sink) {
    boolean wants = true;
    int failures = 0;
    while (wants && !scan.isDone()) {
      final long deadlineNs = prepare();
      final GrantedIndex granted = grant.granted();
      final boolean direct =
          granted != null && granted.isOrdered() && scan.isLegal() && failures < ATTEMPTS;
      state = State.SCANNING;
      try {
        if (!direct) {
          failures = 0;
          scanCalls++;
          final ScanResponse page = stub(deadlineNs).scanPage(scan.request(index));
          callReads += page.getEntriesCount();
          wants = step.take(scan, sink, page);
          continue;
        }
        if (!scan.isOf(granted.incarnation())) {
          grant.end(
              ReadResult.CLOSED); // of an index that was dropped, or the scan's was: a call says
          continue;
        }
        granted.until(deadlineNs);
        final ReadResult result = step.read(scan, sink, granted);
        grant.served(step.given());
        failures = step.given() > 0 ? 0 : failures;
        wants = step.wantsMore();
        if (result != ReadResult.FOUND && result != ReadResult.ABSENT) {
          failures++;
          afterFailure(result);
        }
      } finally {
        state = State.OPEN;
      }
    }
    return !scan.isDone();
  }

  /** Reads the keys at some places by calls, with fewer keys each where an answer is too long. */
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

  /** Checks the state and uses a grant that has come. Returns the deadline of the read. */
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
   * The incarnation of the index that direct reads are of, as answers to calls name it; 0 while
   * reads go by calls.
   */
  public long incarnation() {
    return isDirect() ? grant.granted().incarnation() : 0;
  }

  /** Why the next read goes by a call; null while {@link #isDirect()}. */
  public String obstacle() {
    return grant.obstacle();
  }

  /** Keys that were looked up directly, and entries that scans gave so. */
  public long directReads() {
    return grant.reads();
  }

  /** Direct look-ups and steps of scans that were undecided, and tried again or by a call. */
  public long retries() {
    return retries;
  }

  /** Direct look-ups of keys that too many others hash as, which went by calls. */
  public long limits() {
    return limits;
  }

  /** Keys that were looked up by calls, and entries that scans got so. */
  public long callReads() {
    return callReads;
  }

  /** Calls that scans have made, each for a page. */
  public long scanCalls() {
    return scanCalls;
  }

  /** Grants that the reader has left because memory was closed or lost. */
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

package dev.ringfetch.index.direct;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricProviders;
import dev.ringfetch.index.layout.BlockDescriptor;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.v1.BatchGetRequest;
import dev.ringfetch.index.v1.BatchGetResponse;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.FabricHint;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.GrantRequest;
import dev.ringfetch.index.v1.GrantResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import io.grpc.Channel;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

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
 * <p>Over a fabric that maps no memory (verbs), a key takes two round trips of READs once the
 * reader knows where the tables are; a key that is absent is asked for by a call. There memory ends
 * with the server's process.
 *
 * <p>Used by one thread at a time. Reads throw {@link io.grpc.StatusRuntimeException} where a call
 * fails, and take no longer than {@link DirectContext#timeout()}.
 */
public final class DirectReader implements AutoCloseable {
  /** Reads of one key that may be undecided before it goes by a call: the call decides. */
  static final int ATTEMPTS = 4;

  /** Bytes of keys in one call: a server takes requests of 4 MiB unless set otherwise. */
  private static final int CALL_BYTES = 2 << 20;

  /** Interval at which a grant is renewed that no successor of the server would end. */
  static final long RENEWAL_NS = TimeUnit.SECONDS.toNanos(1);

  private enum State {
    OPEN,
    CLOSED
  }

  private final Channel channel;
  private final String index;
  private final long timeoutNs;
  private final IndexGrpc.IndexBlockingStub stub;
  private final Map<String, Fabric> fabrics = new LinkedHashMap<>(); // by name
  private final GrantRequests requests; // null where there is no fabric
  private final Supplier<GrantRequest> request = this::request;
  private State state = State.OPEN;
  private GrantedIndex granted; // null while reads go by calls
  private String obstacle;
  private long renewNs;

  /** Whether the next call waits for a connection: a successor of the server has begun. */
  private boolean serverHasBegun;

  private long readsBefore; // direct ones, before the present grant
  private long directReads;
  private long retries;
  private long limits;
  private long callReads;
  private long turns;

  private DirectReader(Channel channel, String index, DirectContext context) {
    this.channel = channel;
    this.index = index;
    this.timeoutNs = context.timeout().toNanos();
    this.stub = IndexGrpc.newBlockingStub(channel);
    for (String name : context.fabrics()) {
      try {
        fabrics.put(name, FabricProviders.open(name, context.fabricContext()));
      } catch (IOException e) {
        obstacle = obstacle == null ? e.getMessage() : obstacle + "; " + e.getMessage();
      }
    }
    final boolean any = !fabrics.isEmpty();
    this.requests = any ? new GrantRequests(channel, timeoutNs, System::nanoTime) : null;
  }

  /** Opens a reader with the default options. */
  public static DirectReader open(Channel channel, String index) {
    return open(channel, index, new DirectContext());
  }

  /**
   * Opens a reader, and waits for its first grant, or the reason why there is none, for the timeout
   * at most. It never fails for want of a grant.
   *
   * @param channel to the server; the reader does not close it.
   * @param index name of the index; empty is "default".
   */
  public static DirectReader open(Channel channel, String index, DirectContext context) {
    final DirectReader reader = new DirectReader(channel, index, context);
    if (reader.requests != null) {
      final long deadlineNs = System.nanoTime() + reader.timeoutNs;
      reader.use(reader.requests.poll(reader.request), deadlineNs);
      if (reader.granted == null) {
        reader.use(reader.requests.await(reader.timeoutNs), deadlineNs);
      }
    }
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
    for (int i = 0; legal && granted != null && i < ATTEMPTS; i++) {
      granted.until(deadlineNs);
      final ReadResult result = granted.get(key, value.found());
      if (result == ReadResult.FOUND || result == ReadResult.ABSENT) {
        directReads++;
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
          directReads++;
        } else {
          left.add(i);
          if (granted != null) {
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
      found.set(entry.getValue(), entry.getVersion());
    }
    return response.hasEntry();
  }

  /** Checks the state and uses a grant that has come. Returns the deadline of the read. */
  private long prepare() {
    if (state == State.CLOSED) {
      throw new IllegalStateException("the reader is closed");
    }
    final long nowNs = System.nanoTime();
    final long deadlineNs = nowNs + timeoutNs;
    if (requests != null && (granted == null || granted.lacksSegment())) {
      use(requests.poll(request), deadlineNs);
    } else if (requests != null && !granted.outlivesServer() && nowNs - renewNs >= 0) {
      renew(deadlineNs);
    }
    return deadlineNs;
  }

  /** Asks whether the server is still the one of the grant, which no successor would end. */
  private void renew(long deadlineNs) {
    final long refusals = requests.refusals();
    use(requests.poll(request), deadlineNs);
    if (granted != null && requests.refusals() != refusals) {
      turns++;
      leave();
    }
  }

  private GrantRequest request() {
    final GrantRequest.Builder request = GrantRequest.newBuilder().setIndex(index);
    fabrics.forEach(
        (name, fabric) ->
            request.addFabrics(
                FabricHint.newBuilder()
                    .setFabric(name)
                    .setHint(ByteString.copyFrom(fabric.hint()))));
    if (granted != null) {
      request.setDomain(granted.domain());
    }
    return request.build();
  }

  /** Uses a grant, unless it is null. */
  private void use(GrantResponse grant, long deadlineNs) {
    if (grant == null) {
      return;
    }
    try {
      if (granted != null && granted.isOf(grant)) {
        granted.learn(grant);
      } else {
        if (granted != null) {
          turns++; // another server, or another index of that name
        }
        leave();
        readsBefore = directReads;
        final Fabric fabric = fabrics.get(grant.getFabric());
        if (fabric == null) {
          throw new IOException("not asked for: fabric=" + grant.getFabric());
        }
        // Half of the time is left for a call.
        final long limitNs = Math.max(1, (deadlineNs - System.nanoTime()) / 2);
        granted = GrantedIndex.connect(fabric, grant, limitNs, timeoutNs / 2);
      }
      requests.served();
      renewNs = System.nanoTime() + RENEWAL_NS;
    } catch (IOException | RuntimeException e) { // the latter of a descriptor that misleads
      leave();
      requests.release(grant.getToken());
      requests.refused(e.getMessage());
    }
  }

  private void afterFailure(ReadResult result) {
    switch (result) {
      case UNDECIDED -> {
        retries++;
        Thread.onSpinWait();
      }
      case CLOSED, LOST -> {
        turns++;
        if (granted.hasSuccessor()) {
          reconnect();
        }
        leave();
        final String reason = "memory is " + (result == ReadResult.LOST ? "lost" : "closed");
        if (directReads > readsBefore) {
          requests.ended(reason);
        } else {
          requests.refused(reason); // a grant that never served is not asked for in a loop
        }
      }
      case LIMIT -> limits++;
      case FOUND, ABSENT -> throw new IllegalArgumentException("result=" + result);
    }
  }

  /**
   * Lets the next call find the server that has closed the memory: the channel may have tried to
   * connect while there was none, and would pause before it tries again, up to two minutes.
   */
  private void reconnect() {
    serverHasBegun = true;
    if (channel instanceof ManagedChannel managed) {
      managed.resetConnectBackoff();
    }
  }

  private void leave() {
    if (granted != null) {
      requests.release(granted.token());
      granted.close();
      granted = null;
    }
  }

  private IndexGrpc.IndexBlockingStub stub(long deadlineNs) {
    final IndexGrpc.IndexBlockingStub limited =
        stub.withDeadlineAfter(deadlineNs - System.nanoTime(), TimeUnit.NANOSECONDS);
    if (serverHasBegun) {
      serverHasBegun = false; // where it has ended instead, one call learns so
      return limited.withWaitForReady();
    }
    return limited;
  }

  /** Whether the next read is tried directly. */
  public boolean isDirect() {
    return granted != null;
  }

  /**
   * The incarnation of the index that direct reads are of, as answers to calls name it; 0 while
   * reads go by calls.
   */
  public long incarnation() {
    return granted == null ? 0 : granted.incarnation();
  }

  /** Why the next read goes by a call; null while {@link #isDirect()}. */
  public String obstacle() {
    if (granted != null) {
      return null;
    }
    return requests != null ? requests.obstacle() : obstacle;
  }

  /** Keys that were looked up directly. */
  public long directReads() {
    return directReads;
  }

  /** Direct look-ups that were undecided, and tried again or by a call. */
  public long retries() {
    return retries;
  }

  /** Direct look-ups of keys that too many others hash as, which went by calls. */
  public long limits() {
    return limits;
  }

  /** Keys that were looked up by calls. */
  public long callReads() {
    return callReads;
  }

  /** Grants that the reader has left because memory was closed or lost. */
  public long turns() {
    return turns;
  }

  /** Ends the grant. Idempotent. */
  @Override
  public void close() {
    if (state == State.CLOSED) {
      return;
    }
    state = State.CLOSED;
    leave();
    if (requests != null) {
      requests.close();
    }
    fabrics.values().forEach(Fabric::close);
  }
}

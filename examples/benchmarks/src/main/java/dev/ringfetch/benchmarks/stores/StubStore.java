package dev.ringfetch.benchmarks.stores;

import com.google.common.util.concurrent.ListenableFuture;
import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.BatchPutResponse;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.DescribeRequest;
import dev.ringfetch.index.v1.DropIndexRequest;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.KeyRange;
import dev.ringfetch.index.v1.OpenClientRequest;
import dev.ringfetch.index.v1.PutEntry;
import dev.ringfetch.index.v1.PutOutcome;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.RequestNumber;
import dev.ringfetch.index.v1.ScanRequest;
import dev.ringfetch.index.v1.ScanResponse;
import dev.ringfetch.rpc.RingChannel;
import io.grpc.Channel;
import io.grpc.Status;
import java.util.ArrayDeque;
import java.util.concurrent.ExecutionException;

/** The Index service by stubs of one channel, which all threads share. */
final class StubStore implements Store {
  /** Name of the ordered index. */
  static final String ORDERED = "ordered";

  private static final int BATCH = 1_000;
  private static final int BATCHES_IN_FLIGHT = 4;
  private static final long TTL_MILLIS = 3_600_000;

  private final Channel channel;
  private final String index;
  private final IndexKind kind;
  private final Writes writes;

  /** What a write says besides key and value. */
  private enum Writes {
    PLAIN,
    /** Its number, of a client of each session. */
    NUMBERED,
    /** A time-to-live. */
    EXPIRING
  }

  private StubStore(Channel channel, String index, IndexKind kind, Writes writes) {
    this.channel = channel;
    this.index = index;
    this.kind = kind;
    this.writes = writes;
  }

  /** The index that the server has from the start. */
  static StubStore hash(Channel channel) {
    return new StubStore(channel, "", IndexKind.HASH, Writes.PLAIN);
  }

  /** Same, whose writes have numbers. */
  static StubStore numbered(Channel channel) {
    return new StubStore(channel, "", IndexKind.HASH, Writes.NUMBERED);
  }

  /** Same, whose entries end, but not soon. */
  static StubStore expiring(Channel channel) {
    return new StubStore(channel, "", IndexKind.HASH, Writes.EXPIRING);
  }

  /** An ordered index. */
  static StubStore ordered(Channel channel) {
    return new StubStore(channel, ORDERED, IndexKind.ORDERED, Writes.PLAIN);
  }

  @Override
  public Session open() {
    return new Calls(channel, index, writes);
  }

  @Override
  public void clear() {
    final IndexAdminGrpc.IndexAdminBlockingStub admin = IndexAdminGrpc.newBlockingStub(channel);
    final var dropped = admin.dropIndex(DropIndexRequest.newBuilder().setIndex(index).build());
    final var created =
        admin.createIndex(CreateIndexRequest.newBuilder().setIndex(index).setKind(kind).build());
    if (!created.getCreated()) {
      throw new IllegalStateException("not created anew, dropped=" + dropped.getExisted());
    }
  }

  /** Of all indexes of the server. */
  @Override
  public long usedBytes() {
    return IndexGrpc.newBlockingStub(channel)
        .describe(DescribeRequest.getDefaultInstance())
        .getIndex()
        .getMemoryUsed();
  }

  @Override
  public String obstacle() {
    return channel instanceof RingChannel ring && ring.grpcCalls() > 0
        ? "calls that did not go over the ring: " + ring.grpcCalls()
        : "";
  }

  @Override
  public void close() {}

  /** Blocking calls; batches by future stub, several in flight. */
  static final class Calls implements Session {
    private final String index;
    private final IndexGrpc.IndexBlockingStub stub;
    private final IndexGrpc.IndexFutureStub futureStub;
    private final byte[] keyBytes = new byte[Entries.KEY_LENGTH];
    private final byte[] valueBytes = new byte[Entries.VALUE_LENGTH];
    private final byte[] entryBytes = new byte[Entries.KEY_LENGTH + Entries.VALUE_LENGTH];
    private final ScanCheck check = new ScanCheck();
    private final Writes writes;

    /** The session's number as a client, 0 if it needs none, and that of its last write. */
    private final long client;

    private long lastWrite;

    Calls(Channel channel, String index) {
      this(channel, index, Writes.PLAIN);
    }

    private Calls(Channel channel, String index, Writes writes) {
      this.index = index;
      this.writes = writes;
      stub = IndexGrpc.newBlockingStub(channel);
      client =
          writes == Writes.NUMBERED
              ? stub.openClient(OpenClientRequest.newBuilder().setIndex(index).build()).getClient()
              : 0;
      futureStub = IndexGrpc.newFutureStub(channel);
    }

    @Override
    public boolean get(long number) {
      final GetResponse response =
          stub.get(
              GetRequest.newBuilder()
                  .setIndex(index)
                  .setKey(Entries.key(number, keyBytes))
                  .build());
      return isValue(number, response, valueBytes);
    }

    /** A call for each page, as the client library has it: here of one page each. */
    @Override
    public int scan(long number, int limit) {
      final KeyRange.Builder range =
          KeyRange.newBuilder().setStart(ByteString.copyFrom(check.begin(number)));
      final ScanResponse response =
          stub.scanPage(
              ScanRequest.newBuilder().setIndex(index).setRange(range).setLimit(limit).build());
      for (int i = 0; i < response.getEntriesCount(); i++) {
        take(response.getEntries(i));
      }
      return check.end();
    }

    private void take(Entry entry) {
      final ByteString key = entry.getKey();
      final ByteString value = entry.getValue();
      if (key.size() != Entries.KEY_LENGTH || value.size() != Entries.VALUE_LENGTH) {
        check.take(keyBytes, 0, key.size(), valueBytes, 0, value.size());
        return;
      }
      key.copyTo(entryBytes, 0);
      value.copyTo(entryBytes, Entries.KEY_LENGTH);
      check.take(
          entryBytes, 0, Entries.KEY_LENGTH, entryBytes, Entries.KEY_LENGTH, Entries.VALUE_LENGTH);
    }

    @Override
    public void put(long number, long stamp) {
      final PutRequest.Builder request =
          PutRequest.newBuilder()
              .setIndex(index)
              .setKey(Entries.key(number, keyBytes))
              .setValue(Entries.value(number, stamp, valueBytes));
      if (writes == Writes.NUMBERED) {
        lastWrite++;
        request.setNumber(
            RequestNumber.newBuilder()
                .setClient(client)
                .setNumber(lastWrite)
                .setFirstIncomplete(lastWrite));
      } else if (writes == Writes.EXPIRING) {
        request.setTtlMs(TTL_MILLIS);
      }
      final var response = stub.put(request.build());
      if (response.getVersion() == 0) {
        throw new IllegalStateException("not written: number=" + number);
      }
    }

    @Override
    public void putAll(long first, long end) {
      final ArrayDeque<ListenableFuture<BatchPutResponse>> inFlight = new ArrayDeque<>();
      for (long from = first; from < end; from += BATCH) {
        if (inFlight.size() == BATCHES_IN_FLIGHT) {
          await(inFlight.removeFirst());
        }
        inFlight.addLast(futureStub.batchPut(batch(from, Math.min(end, from + BATCH))));
      }
      inFlight.forEach(Calls::await);
    }

    private BatchPutRequest batch(long first, long end) {
      final BatchPutRequest.Builder batch = BatchPutRequest.newBuilder().setIndex(index);
      for (long number = first; number < end; number++) {
        batch.addEntries(
            PutEntry.newBuilder()
                .setKey(Entries.key(number, keyBytes))
                .setValue(Entries.value(number, 0, valueBytes)));
      }
      return batch.build();
    }

    private static void await(ListenableFuture<BatchPutResponse> future) {
      try {
        for (final PutOutcome outcome : future.get().getOutcomesList()) {
          if (outcome.getCode() != Status.Code.OK.value()) {
            throw new IllegalStateException("not written: " + outcome.getDescription());
          }
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted", e);
      } catch (ExecutionException e) {
        throw new IllegalStateException(String.valueOf(e.getCause()), e);
      }
    }
  }

  /** Whether a response has a value of this number. */
  static boolean isValue(long number, GetResponse response, byte[] scratch) {
    final ByteString value = response.getEntry().getValue();
    if (value.size() != scratch.length) {
      return false;
    }
    value.copyTo(scratch, 0);
    return Entries.isValue(number, scratch, 0, scratch.length);
  }
}

package dev.ringfetch.index.linearizability;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.BatchGetRequest;
import dev.ringfetch.index.v1.BatchGetResponse;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.BatchPutResponse;
import dev.ringfetch.index.v1.CompareAndSetRequest;
import dev.ringfetch.index.v1.CompareAndSetResponse;
import dev.ringfetch.index.v1.DeleteRequest;
import dev.ringfetch.index.v1.DeleteResponse;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.PutEntry;
import dev.ringfetch.index.v1.PutOutcome;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.PutResponse;
import io.grpc.stub.StreamObserver;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;

/**
 * An index with a fault, to see whether the checker finds it; without one, to see that it finds
 * none. All of it is under one lock, except where the fault is that it is not.
 */
final class FaultyIndex extends IndexGrpc.IndexImplBase {
  /** What is wrong with it. */
  enum Fault {
    NONE(0),
    /** Of so many reads one answers the entry that was there before the last write. */
    STALE_READ(2_000),
    /** Of so many puts one is answered and not done. */
    LOST_PUT(200),
    /** Each compare-and-set looks first and writes later: another may write in between. */
    LATE_COMPARISON(1),
    /** The version is kept with the entry, and begins again when that was deleted. */
    VERSION_FORGOTTEN(1);

    private final int interval;

    Fault(int interval) {
      this.interval = interval;
    }
  }

  private final Fault fault;
  private final Map<ByteString, Entry> entries = new HashMap<>();
  private final Map<ByteString, Entry> before = new HashMap<>();
  private long version;
  private long chances;
  private long faults;

  FaultyIndex(Fault fault) {
    this.fault = fault;
  }

  /** How often it has done wrong. */
  synchronized long faults() {
    return faults;
  }

  @Override
  public void get(GetRequest request, StreamObserver<GetResponse> responses) {
    answer(responses, look(request.getKey()));
  }

  @Override
  public void batchGet(BatchGetRequest request, StreamObserver<BatchGetResponse> responses) {
    final BatchGetResponse.Builder response = BatchGetResponse.newBuilder();
    for (final ByteString key : request.getKeysList()) {
      response.addAnswers(look(key));
    }
    answer(responses, response.build());
  }

  private synchronized GetResponse look(ByteString key) {
    final Entry old = before.get(key);
    final Entry found = old != null && happens(Fault.STALE_READ) ? old : entries.get(key);
    return found == null
        ? GetResponse.getDefaultInstance()
        : GetResponse.newBuilder().setEntry(found).build();
  }

  @Override
  public void put(PutRequest request, StreamObserver<PutResponse> responses) {
    final PutOutcome done = put(request.getKey(), request.getValue());
    answer(
        responses,
        PutResponse.newBuilder()
            .setVersion(done.getVersion())
            .setCreated(done.getCreated())
            .build());
  }

  @Override
  public void batchPut(BatchPutRequest request, StreamObserver<BatchPutResponse> responses) {
    final BatchPutResponse.Builder response = BatchPutResponse.newBuilder();
    for (final PutEntry entry : request.getEntriesList()) {
      response.addOutcomes(put(entry.getKey(), entry.getValue()));
    }
    answer(responses, response.build());
  }

  private synchronized PutOutcome put(ByteString key, ByteString value) {
    final boolean created = !entries.containsKey(key);
    final Entry written = entry(key, value);
    if (!happens(Fault.LOST_PUT)) {
      store(written);
    }
    return PutOutcome.newBuilder().setVersion(written.getVersion()).setCreated(created).build();
  }

  @Override
  public void delete(DeleteRequest request, StreamObserver<DeleteResponse> responses) {
    final boolean existed;
    synchronized (this) {
      before.remove(request.getKey());
      existed = entries.remove(request.getKey()) != null;
      faults += existed && fault == Fault.VERSION_FORGOTTEN ? 1 : 0;
    }
    answer(responses, DeleteResponse.newBuilder().setExisted(existed).build());
  }

  @Override
  public void compareAndSet(
      CompareAndSetRequest request, StreamObserver<CompareAndSetResponse> responses) {
    if (fault != Fault.LATE_COMPARISON) {
      synchronized (this) {
        answer(responses, set(request, current(request.getKey())));
      }
      return;
    }
    final Entry seen = current(request.getKey());
    LockSupport.parkNanos(1); // Others are to come in between.
    synchronized (this) {
      if (!Objects.equals(seen, entries.get(request.getKey())) && matches(request, seen)) {
        faults++;
      }
      answer(responses, set(request, seen));
    }
  }

  private synchronized Entry current(ByteString key) {
    return entries.get(key);
  }

  private CompareAndSetResponse set(CompareAndSetRequest request, Entry seen) {
    if (!matches(request, seen)) {
      return seen == null
          ? CompareAndSetResponse.getDefaultInstance()
          : CompareAndSetResponse.newBuilder().setEntry(seen).build();
    }
    final Entry written = entry(request.getKey(), request.getValue());
    store(written);
    return CompareAndSetResponse.newBuilder().setApplied(true).setEntry(written).build();
  }

  private static boolean matches(CompareAndSetRequest request, Entry seen) {
    return request.getExpectedVersion() == (seen == null ? 0 : seen.getVersion());
  }

  private Entry entry(ByteString key, ByteString value) {
    final Entry old = entries.get(key);
    version++;
    long next = version;
    if (fault == Fault.VERSION_FORGOTTEN) {
      next = old == null ? 1 : old.getVersion() + 1;
    }
    return Entry.newBuilder().setKey(key).setValue(value).setVersion(next).build();
  }

  private void store(Entry written) {
    final Entry old = entries.put(written.getKey(), written);
    if (old != null) {
      before.put(written.getKey(), old);
    }
  }

  /** Whether this chance to do wrong is taken. */
  private boolean happens(Fault one) {
    if (fault != one) {
      return false;
    }
    chances++;
    final boolean happens = chances % fault.interval == 0;
    faults += happens ? 1 : 0;
    return happens;
  }

  private static <T> void answer(StreamObserver<T> responses, T response) {
    responses.onNext(response);
    responses.onCompleted();
  }
}

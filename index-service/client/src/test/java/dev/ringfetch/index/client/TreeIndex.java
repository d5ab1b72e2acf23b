package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.BatchGetRequest;
import dev.ringfetch.index.v1.BatchGetResponse;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.BatchPutResponse;
import dev.ringfetch.index.v1.CompareAndSetRequest;
import dev.ringfetch.index.v1.CompareAndSetResponse;
import dev.ringfetch.index.v1.CountRequest;
import dev.ringfetch.index.v1.CountResponse;
import dev.ringfetch.index.v1.DeleteRangeRequest;
import dev.ringfetch.index.v1.DeleteRangeResponse;
import dev.ringfetch.index.v1.DeleteRequest;
import dev.ringfetch.index.v1.DeleteResponse;
import dev.ringfetch.index.v1.DescribeRequest;
import dev.ringfetch.index.v1.DescribeResponse;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexDescription;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.KeyRange;
import dev.ringfetch.index.v1.PutEntry;
import dev.ringfetch.index.v1.PutOutcome;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.PutResponse;
import dev.ringfetch.index.v1.ScanRequest;
import dev.ringfetch.index.v1.ScanResponse;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** An ordered index of one name in a tree of this JVM, as the protocol describes it. */
class TreeIndex extends IndexGrpc.IndexImplBase {
  static final long INCARNATION = 77;
  static final int PAGE = 7;
  static final int STEP = 3; // entries that one call removes

  final AtomicInteger pages = new AtomicInteger();
  final AtomicInteger openStreams = new AtomicInteger();

  /** Whether streams go no further than their first page. */
  volatile boolean holding;

  private final NavigableMap<ByteString, Entry> entries =
      new TreeMap<>(ByteString.unsignedLexicographicalComparator());
  private long version;

  static <T> void answer(StreamObserver<T> responses, T response) {
    responses.onNext(response);
    responses.onCompleted();
  }

  private synchronized Entry write(ByteString key, ByteString value) {
    final Entry entry =
        Entry.newBuilder().setKey(key).setValue(value).setVersion(++version).build();
    entries.put(key, entry);
    return entry;
  }

  private synchronized Entry find(ByteString key) {
    return entries.get(key);
  }

  @Override
  public void get(GetRequest request, StreamObserver<GetResponse> responses) {
    answer(responses, got(find(request.getKey())));
  }

  @Override
  public void describe(DescribeRequest request, StreamObserver<DescribeResponse> responses) {
    final IndexDescription index =
        IndexDescription.newBuilder()
            .setName(request.getIndex())
            .setKind(IndexKind.ORDERED)
            .setIncarnation(INCARNATION)
            .build();
    answer(responses, DescribeResponse.newBuilder().setIndex(index).build());
  }

  private static GetResponse got(Entry entry) {
    final GetResponse.Builder response = GetResponse.newBuilder().setIncarnation(INCARNATION);
    return (entry == null ? response : response.setEntry(entry)).build();
  }

  @Override
  public void batchGet(BatchGetRequest request, StreamObserver<BatchGetResponse> responses) {
    final BatchGetResponse.Builder response =
        BatchGetResponse.newBuilder().setIncarnation(INCARNATION);
    request.getKeysList().forEach(key -> response.addAnswers(got(find(key))));
    answer(responses, response.build());
  }

  @Override
  public void put(PutRequest request, StreamObserver<PutResponse> responses) {
    final boolean created = find(request.getKey()) == null;
    final Entry entry = write(request.getKey(), request.getValue());
    answer(
        responses,
        PutResponse.newBuilder()
            .setVersion(entry.getVersion())
            .setCreated(created)
            .setIncarnation(INCARNATION)
            .build());
  }

  @Override
  public synchronized void delete(DeleteRequest request, StreamObserver<DeleteResponse> responses) {
    final boolean existed = entries.remove(request.getKey()) != null;
    answer(
        responses,
        DeleteResponse.newBuilder().setExisted(existed).setIncarnation(INCARNATION).build());
  }

  @Override
  public synchronized void compareAndSet(
      CompareAndSetRequest request, StreamObserver<CompareAndSetResponse> responses) {
    final Entry present = find(request.getKey());
    final boolean applied =
        request.getExpectedVersion() == (present == null ? 0 : present.getVersion());
    final Entry after = applied ? write(request.getKey(), request.getValue()) : present;
    final CompareAndSetResponse.Builder response =
        CompareAndSetResponse.newBuilder().setApplied(applied).setIncarnation(INCARNATION);
    answer(responses, (after == null ? response : response.setEntry(after)).build());
  }

  @Override
  public void batchPut(BatchPutRequest request, StreamObserver<BatchPutResponse> responses) {
    final BatchPutResponse.Builder response =
        BatchPutResponse.newBuilder().setIncarnation(INCARNATION);
    for (final PutEntry entry : request.getEntriesList()) {
      final Entry written = write(entry.getKey(), entry.getValue());
      response.addOutcomes(PutOutcome.newBuilder().setVersion(written.getVersion()));
    }
    answer(responses, response.build());
  }

  private static boolean contains(KeyRange range, ByteString key) {
    final var order = ByteString.unsignedLexicographicalComparator();
    return order.compare(key, range.getStart()) >= 0
        && (range.getEnd().isEmpty() || order.compare(key, range.getEnd()) < 0)
        && key.startsWith(range.getPrefix());
  }

  private synchronized List<Entry> select(ScanRequest request) {
    final List<Entry> found = new ArrayList<>();
    for (final Entry entry : (request.getReverse() ? entries.descendingMap() : entries).values()) {
      if (contains(request.getRange(), entry.getKey())
          && isBeyond(entry.getKey(), request)
          && (request.getLimit() == 0 || found.size() < request.getLimit())) {
        found.add(request.getKeysOnly() ? entry.toBuilder().clearValue().build() : entry);
      }
    }
    return found;
  }

  /** Whether a key comes after the page before. */
  private static boolean isBeyond(ByteString key, ScanRequest request) {
    final ByteString token = request.getPageToken();
    if (token.isEmpty()) {
      return true;
    }
    final int order = ByteString.unsignedLexicographicalComparator().compare(key, token);
    return request.getReverse() ? order < 0 : order > 0;
  }

  private static int pageSize(ScanRequest request) {
    return request.getPageSize() == 0 ? PAGE : Math.min(PAGE, request.getPageSize());
  }

  /** The token is the last key of the page before. */
  @Override
  public void scanPage(ScanRequest request, StreamObserver<ScanResponse> responses) {
    pages.incrementAndGet();
    final List<Entry> found = select(request);
    final int end = Math.min(found.size(), pageSize(request));
    final ScanResponse.Builder response =
        ScanResponse.newBuilder().addAllEntries(found.subList(0, end)).setIncarnation(INCARNATION);
    if (end < found.size()) {
      response.setNextPageToken(found.get(end - 1).getKey());
    }
    answer(responses, response.build());
  }

  @Override
  public void scan(ScanRequest request, StreamObserver<ScanResponse> responses) {
    final List<Entry> found = select(request);
    final ServerCallStreamObserver<ScanResponse> call =
        (ServerCallStreamObserver<ScanResponse>) responses;
    openStreams.incrementAndGet();
    // A call that has sent its last page may be cancelled all the same: then it ends once, too.
    final AtomicBoolean open = new AtomicBoolean(true);
    final Runnable ended =
        () -> {
          if (open.compareAndSet(true, false)) {
            openStreams.decrementAndGet();
          }
        };
    call.setOnCancelHandler(ended);
    final int[] done = {0, 0};
    call.setOnReadyHandler(
        () -> {
          while (call.isReady() && done[1] == 0) {
            final int end = Math.min(found.size(), done[0] + pageSize(request));
            call.onNext(
                ScanResponse.newBuilder()
                    .addAllEntries(found.subList(done[0], end))
                    .setIncarnation(INCARNATION)
                    .build());
            done[0] = end;
            if (holding) {
              done[1] = 1;
            } else if (end == found.size()) {
              done[1] = 1;
              ended.run();
              call.onCompleted();
            }
          }
        });
  }

  @Override
  public synchronized void deleteRange(
      DeleteRangeRequest request, StreamObserver<DeleteRangeResponse> responses) {
    final List<ByteString> found =
        entries.keySet().stream()
            .filter(key -> contains(request.getRange(), key))
            .limit(STEP)
            .toList();
    found.forEach(entries::remove);
    answer(
        responses,
        DeleteRangeResponse.newBuilder()
            .setRemoved(found.size())
            .setMore(found.size() == STEP)
            .setIncarnation(INCARNATION)
            .build());
  }

  @Override
  public synchronized void count(CountRequest request, StreamObserver<CountResponse> responses) {
    final long count =
        entries.keySet().stream().filter(key -> contains(request.getRange(), key)).count();
    answer(
        responses,
        CountResponse.newBuilder().setEntries(count).setIncarnation(INCARNATION).build());
  }

  /** Fails a call of a subclass. */
  static void fail(StreamObserver<?> responses, Status status) {
    responses.onError(status.asRuntimeException());
  }
}

package dev.ringfetch.benchmarks.stores;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.BatchPutResponse;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.CreateIndexResponse;
import dev.ringfetch.index.v1.DescribeRequest;
import dev.ringfetch.index.v1.DescribeResponse;
import dev.ringfetch.index.v1.DropIndexRequest;
import dev.ringfetch.index.v1.DropIndexResponse;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexDescription;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.PutEntry;
import dev.ringfetch.index.v1.PutOutcome;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.PutResponse;
import io.grpc.stub.StreamObserver;
import java.lang.management.ManagementFactory;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The part of the Index service that the benchmark needs, as an application writes it that has no
 * index: entries in a {@link ConcurrentHashMap}.
 */
final class MapService extends IndexGrpc.IndexImplBase {
  private static final long INCARNATION = 1;

  private record Stored(ByteString value, long version) {}

  private final ConcurrentHashMap<ByteString, Stored> map = new ConcurrentHashMap<>();
  private final AtomicLong versions = new AtomicLong();

  @Override
  public void get(GetRequest request, StreamObserver<GetResponse> responses) {
    final GetResponse.Builder response = GetResponse.newBuilder().setIncarnation(INCARNATION);
    final Stored found = map.get(request.getKey());
    if (found != null) {
      response.setEntry(
          Entry.newBuilder()
              .setKey(request.getKey())
              .setValue(found.value())
              .setVersion(found.version()));
    }
    answer(responses, response.build());
  }

  @Override
  public void put(PutRequest request, StreamObserver<PutResponse> responses) {
    final long version = versions.incrementAndGet();
    final boolean created = put(request.getKey(), request.getValue(), version);
    answer(
        responses,
        PutResponse.newBuilder()
            .setVersion(version)
            .setCreated(created)
            .setIncarnation(INCARNATION)
            .build());
  }

  @Override
  public void batchPut(BatchPutRequest request, StreamObserver<BatchPutResponse> responses) {
    final BatchPutResponse.Builder response =
        BatchPutResponse.newBuilder().setIncarnation(INCARNATION);
    for (final PutEntry entry : request.getEntriesList()) {
      final long version = versions.incrementAndGet();
      final boolean created = put(entry.getKey(), entry.getValue(), version);
      response.addOutcomes(PutOutcome.newBuilder().setVersion(version).setCreated(created));
    }
    answer(responses, response.build());
  }

  private boolean put(ByteString key, ByteString value, long version) {
    return map.put(key, new Stored(value, version)) == null;
  }

  /** The heap after a collection counts as memory of the entries. */
  @Override
  public void describe(DescribeRequest request, StreamObserver<DescribeResponse> responses) {
    ManagementFactory.getMemoryMXBean().gc();
    final long used = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    answer(
        responses,
        DescribeResponse.newBuilder()
            .setIndex(IndexDescription.newBuilder().setEntries(map.size()).setMemoryUsed(used))
            .build());
  }

  /** The service that removes all entries. */
  IndexAdminGrpc.IndexAdminImplBase admin() {
    return new IndexAdminGrpc.IndexAdminImplBase() {
      @Override
      public void dropIndex(DropIndexRequest request, StreamObserver<DropIndexResponse> responses) {
        map.clear();
        answer(responses, DropIndexResponse.newBuilder().setExisted(true).build());
      }

      @Override
      public void createIndex(
          CreateIndexRequest request, StreamObserver<CreateIndexResponse> responses) {
        answer(responses, CreateIndexResponse.newBuilder().setCreated(true).build());
      }
    };
  }

  private static <T> void answer(StreamObserver<T> observer, T response) {
    observer.onNext(response);
    observer.onCompleted();
  }
}

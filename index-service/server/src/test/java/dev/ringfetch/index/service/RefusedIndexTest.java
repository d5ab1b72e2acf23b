package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.layout.GroupDescriptor;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.layout.RootDescriptor;
import dev.ringfetch.index.layout.TableDescriptor;
import dev.ringfetch.index.store.CollidingKeys;
import dev.ringfetch.index.store.PartitionStore;
import dev.ringfetch.index.store.StoreMemory;
import dev.ringfetch.index.v1.BatchGetRequest;
import dev.ringfetch.index.v1.BatchGetResponse;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.BatchPutResponse;
import dev.ringfetch.index.v1.CountRequest;
import dev.ringfetch.index.v1.CountResponse;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.DropIndexRequest;
import dev.ringfetch.index.v1.DropIndexResponse;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.PutEntry;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.PutResponse;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls for an index whose memory was changed by another process, or whose keys were chosen. */
@Timeout(60)
class RefusedIndexTest {
  private static final ByteString KEY = ByteString.copyFromUtf8("key");
  private static final ByteString VALUE = ByteString.copyFromUtf8("value");

  private final Indexes indexes = new Indexes();

  private final IndexService service = new IndexService(indexes);
  private final IndexAdminService admin = new IndexAdminService(indexes);

  /** The answer to a call, or the status that it ended with. */
  private static final class Call<T> implements StreamObserver<T> {
    final CountDownLatch ended = new CountDownLatch(1);
    volatile T response;
    volatile Status status;

    @Override
    public void onNext(T next) {
      response = next;
    }

    @Override
    public void onError(Throwable error) {
      status = Status.fromThrowable(error);
      ended.countDown();
    }

    @Override
    public void onCompleted() {
      status = Status.OK;
      ended.countDown();
    }
  }

  private static <R, T> Call<T> call(BiConsumer<R, StreamObserver<T>> method, R request)
      throws InterruptedException {
    final Call<T> call = new Call<>();
    method.accept(request, call);
    assertTrue(call.ended.await(60, TimeUnit.SECONDS), "no answer");
    return call;
  }

  private void createHash(String index) throws InterruptedException {
    assertEquals(
        Status.OK,
        call(
                admin::createIndex,
                CreateIndexRequest.newBuilder().setIndex(index).setKind(IndexKind.HASH).build())
            .status);
  }

  private Call<PutResponse> put(String index, ByteString key) throws InterruptedException {
    return call(
        service::put, PutRequest.newBuilder().setIndex(index).setKey(key).setValue(VALUE).build());
  }

  private Call<GetResponse> get(String index, ByteString key) throws InterruptedException {
    return call(service::get, GetRequest.newBuilder().setIndex(index).setKey(key).build());
  }

  private Call<BatchGetResponse> batchGet(String index, ByteString... keys)
      throws InterruptedException {
    final BatchGetRequest.Builder request = BatchGetRequest.newBuilder().setIndex(index);
    for (ByteString key : keys) {
      request.addKeys(key);
    }
    return call(service::batchGet, request.build());
  }

  private static void isDamaged(Call<?> call) throws InterruptedException {
    assertEquals(Status.Code.DATA_LOSS, call.status.getCode());
    assertTrue(call.status.getDescription().contains("index=bad"), call.status.getDescription());
  }

  private MemoryRegion region(long address) {
    final StoreMemory store = indexes.memory().store();
    return store.segment(address >>> store.segmentShift());
  }

  private int offset(long address) {
    return (int) (address & ((1L << indexes.memory().store().segmentShift()) - 1));
  }

  /** Spoils the first bucket group of each table of an index. */
  private void damage(ServedIndex index) throws InterruptedException {
    for (int p = 0; p < index.partitions(); p++) {
      for (int t = 0; t < 2; t++) {
        final long head = RootDescriptor.table(index.hash().location().root(), p, t);
        final long page = region(head).getLong(offset(head) + TableDescriptor.PAGES_OFFSET);
        final long group = region(page).getLong(offset(page));
        final int header = offset(group) + GroupDescriptor.HEADER_OFFSET;
        region(group).putLong(header, ~region(group).getLong(header));
      }
    }
  }

  private void allCallsSayIt() throws InterruptedException {
    isDamaged(get("bad", KEY));
    isDamaged(put("bad", KEY));
    isDamaged(batchGet("bad", KEY, VALUE));
    isDamaged(
        call(
            (CountRequest request, StreamObserver<CountResponse> responses) ->
                service.count(request, responses),
            CountRequest.newBuilder().setIndex("bad").build()));
    final Call<BatchPutResponse> batch =
        call(
            service::batchPut,
            BatchPutRequest.newBuilder()
                .setIndex("bad")
                .addEntries(PutEntry.newBuilder().setKey(KEY))
                .build());
    assertEquals(Status.Code.DATA_LOSS.value(), batch.response.getOutcomes(0).getCode());
  }

  private void othersGoOnAndItCanBeDropped() throws InterruptedException {
    assertTrue(get("good", KEY).response.hasEntry());
    assertTrue(put("good", VALUE).response.getCreated());
    final Call<DropIndexResponse> drop =
        call(admin::dropIndex, DropIndexRequest.newBuilder().setIndex("bad").build());
    assertEquals(Status.OK, drop.status);
    assertFalse(get("bad", KEY).response.hasEntry());
    assertTrue(put("bad", KEY).response.getCreated());
    assertTrue(get("bad", KEY).response.hasEntry());
  }

  /** A reader that cannot decide leaves the answer to the owner, which finds the damage. */
  @Test
  void damagedBucketsEndTheIndex() throws Exception {
    createHash("bad");
    put("good", KEY);
    put("bad", KEY);
    damage(indexes.find("bad"));
    allCallsSayIt();
    othersGoOnAndItCanBeDropped();
  }

  @Test
  void closedOpenWordEndsTheIndex() throws Exception {
    createHash("bad");
    put("good", KEY);
    put("bad", KEY);
    final long root = indexes.find("bad").hash().location().root();
    region(root).putLong(offset(root) + RootDescriptor.OPEN_OFFSET, 7);
    allCallsSayIt();
    othersGoOnAndItCanBeDropped();
  }

  /** Readers go by what leads to groups in memory; owners know it, and answer for them. */
  @Test
  void damagedTableHeadsHinderNoAnswer() throws Exception {
    createHash("bad");
    put("bad", KEY);
    final ServedIndex index = indexes.find("bad");
    for (int p = 0; p < index.partitions(); p++) {
      final long head = RootDescriptor.table(index.hash().location().root(), p, 0);
      region(head).putLong(offset(head) + TableDescriptor.GROUPS_OFFSET, -1);
    }
    assertEquals(ReadResult.UNDECIDED, index.reader().read(KEY)); // its first read
    assertTrue(get("bad", KEY).response.hasEntry());
    assertTrue(batchGet("bad", KEY, VALUE).response.getAnswers(0).hasEntry());
    assertFalse(batchGet("bad", KEY, VALUE).response.getAnswers(1).hasEntry());
  }

  /** Colliding keys are found, by the owner, and are bounded; the status says limit and value. */
  @Test
  void chosenKeysAreBounded() throws Exception {
    put("", KEY);
    final long seed = indexes.find("").hash().location().seed();
    int stored = 0;
    Call<PutResponse> put = put("", CollidingKeys.key(stored, seed));
    while (put.status.isOk()) {
      stored++;
      put = put("", CollidingKeys.key(stored, seed));
    }
    assertEquals(Status.Code.RESOURCE_EXHAUSTED, put.status.getCode());
    assertEquals(
        "too many keys hash as this one does: limit="
            + PartitionStore.MAX_COLLISIONS
            + " keys, there are "
            + PartitionStore.MAX_COLLISIONS,
        put.status.getDescription());
    final ByteString[] keys = new ByteString[stored + 1];
    for (int i = 0; i <= stored; i++) {
      keys[i] = CollidingKeys.key(i, seed);
      assertEquals(i < stored, get("", keys[i]).response.hasEntry());
    }
    final BatchGetResponse all = batchGet("", keys).response;
    for (int i = 0; i <= stored; i++) {
      assertEquals(i < stored, all.getAnswers(i).hasEntry());
    }
  }
}

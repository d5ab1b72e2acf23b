package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.LocalServer;
import dev.ringfetch.index.layout.BoxDescriptor;
import dev.ringfetch.index.layout.CounterDescriptor;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.Box;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.DeleteRequest;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.PutEntry;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.RunKernelRequest;
import dev.ringfetch.index.v1.RunKernelResponse;
import dev.ringfetch.index.v1.StatusTexts;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Kernels of the class path that the server runs beside the entries. */
@Timeout(60)
class KernelServiceTest {
  private static final int ENTRIES = 3_000;

  private LocalServer server;
  private IndexGrpc.IndexBlockingStub index;

  @BeforeEach
  void start() throws IOException {
    server = LocalServer.start(64L << 20);
    index = IndexGrpc.newBlockingStub(server.channel());
    TestKernels.RUNS.set(0);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private void create(IndexKind kind) {
    IndexAdminGrpc.newBlockingStub(server.channel())
        .createIndex(CreateIndexRequest.newBuilder().setIndex("i").setKind(kind).build());
  }

  /** Creates an index in which the value of entry n is the key of entry n + 1. */
  private void createChain(IndexKind kind, int entries) {
    create(kind);
    final BatchPutRequest.Builder batch = BatchPutRequest.newBuilder().setIndex("i");
    for (int n = 0; n < entries; n++) {
      final ByteString value = key(n + 1);
      batch.addEntries(
          PutEntry.newBuilder()
              .setKey(key(n))
              .setValue(
                  kind == IndexKind.SPATIAL
                      ? BoxDescriptor.bytes(n, 0, n, 0).concat(value)
                      : value));
    }
    index.batchPut(batch.build());
  }

  private static ByteString key(int number) {
    return ByteString.copyFromUtf8(String.format("%08d", number));
  }

  private static RunKernelRequest request(String kernel, ByteString argument) {
    return RunKernelRequest.newBuilder()
        .setIndex("i")
        .setKernel(kernel)
        .setArgument(argument)
        .build();
  }

  private ByteString run(String kernel, ByteString argument) {
    return index
        .withDeadlineAfter(30, TimeUnit.SECONDS)
        .runKernel(request(kernel, argument))
        .getAnswer();
  }

  private String refused(Status.Code code, String kernel, ByteString argument) {
    final Status status =
        assertThrows(StatusRuntimeException.class, () -> run(kernel, argument)).getStatus();
    assertEquals(code, status.getCode(), status::toString);
    return String.valueOf(status.getDescription());
  }

  private static ByteString number(long number) {
    return CounterDescriptor.value(number);
  }

  @Test
  void readsKeysHoweverManyThereAre() {
    createChain(IndexKind.HASH, ENTRIES);
    for (final int hops : List.of(1, 15, 16, 17, ENTRIES)) {
      assertEquals(key(ENTRIES), run("chain", key(ENTRIES - hops)), "hops=" + hops);
    }
    final RunKernelResponse response = index.runKernel(request("chain", key(0)));
    assertTrue(response.getIncarnation() != 0);
    refused(Status.Code.FAILED_PRECONDITION, "first", ByteString.EMPTY);
    refused(Status.Code.INVALID_ARGUMENT, "chain", ByteString.EMPTY);
  }

  @Test
  void readsRangesAndBoxes() {
    assertEquals(number(0), run("count", ByteString.EMPTY), "no index");
    assertEquals(key(7), run("chain", key(7)), "no index");
    assertEquals(number(0), run("boxes", Box.getDefaultInstance().toByteString()), "no index");
    createChain(IndexKind.ORDERED, ENTRIES);
    assertEquals(number(ENTRIES), run("count", ByteString.EMPTY));
    assertEquals(number(1_000), run("count", ByteString.copyFromUtf8("00002")));
    assertEquals(number(10), run("count", ByteString.copyFromUtf8("0000200")));
    assertEquals(key(0), run("first", ByteString.EMPTY));
    refused(Status.Code.FAILED_PRECONDITION, "boxes", Box.getDefaultInstance().toByteString());
    refused(Status.Code.INVALID_ARGUMENT, "count", ByteString.copyFrom(new byte[2_000]));
  }

  @Test
  void searchesByBoxes() {
    createChain(IndexKind.SPATIAL, ENTRIES);
    final Box box = Box.newBuilder().setMinX(3.5).setMaxX(1_003.5).build();
    assertEquals(number(1_000), run("boxes", box.toByteString()));
    assertEquals(number(2), run("boxes", box.toBuilder().setMaxX(5.5).build().toByteString()));
    final Box none = box.toBuilder().setMinX(2_000).build();
    refused(Status.Code.INVALID_ARGUMENT, "boxes", none.toByteString());
    assertEquals(
        "the argument is no box",
        refused(Status.Code.INVALID_ARGUMENT, "boxes", ByteString.copyFrom(new byte[] {1})));
    refused(Status.Code.FAILED_PRECONDITION, "count", ByteString.EMPTY);
  }

  @Test
  void refusesWhatIsWrong() {
    createChain(IndexKind.HASH, 3);
    final String unknown = refused(Status.Code.NOT_FOUND, "none", ByteString.EMPTY);
    assertTrue(unknown.contains("kernel=none") && unknown.contains("chain"), unknown);
    final String faulty = refused(Status.Code.INTERNAL, "faulty", ByteString.EMPTY);
    assertEquals("the kernel has failed: kernel=faulty exception=java.lang.AssertionError", faulty);
    refused(Status.Code.INTERNAL, "silent", ByteString.EMPTY);
    refused(Status.Code.INVALID_ARGUMENT, "chain", ByteString.copyFrom(new byte[(1 << 20) + 1]));
    final int most = (4 << 20) - 64;
    assertEquals(most, run("lengthy", ByteString.copyFromUtf8("" + most)).size());
    final String lengthy =
        refused(Status.Code.RESOURCE_EXHAUSTED, "lengthy", ByteString.copyFromUtf8("4194241"));
    assertTrue(lengthy.contains("size=4194241 limit=4194240"), lengthy);
    assertEquals(key(3), run("chain", key(0)), "the server goes on");
  }

  @Test
  void endsWhatReadsTooMuchOrTakesTooLong() {
    final String endless = refused(Status.Code.RESOURCE_EXHAUSTED, "endless", key(0));
    assertTrue(endless.contains("too many entries: kernel=endless limit=1000000"), endless);
    assertEquals(2, TestKernels.RUNS.get(), "on the thread of the call, and behind it");
    assertEquals(0, TestKernels.READS_AFTER_END.get());
    createChain(IndexKind.HASH, 1);
    final String slow = refused(Status.Code.RESOURCE_EXHAUSTED, "slow", key(0));
    assertTrue(slow.contains("takes too long: kernel=slow limit=1000 ms"), slow);
    assertEquals(key(1), run("chain", key(0)));
  }

  @Test
  void boundsWhatWaits() throws InterruptedException {
    createChain(IndexKind.HASH, 1);
    final List<ClientCallStreamObserver<RunKernelRequest>> calls = new ArrayList<>();
    final AtomicInteger overloaded = new AtomicInteger();
    final int most = 64;
    final CountDownLatch refused = new CountDownLatch(10);
    final CountDownLatch ended = new CountDownLatch(most + 10);
    for (int i = 0; i < most + 10; i++) {
      IndexGrpc.newStub(server.channel())
          .runKernel(
              request("slow", key(0)),
              new ClientResponseObserver<RunKernelRequest, RunKernelResponse>() {
                @Override
                public void beforeStart(ClientCallStreamObserver<RunKernelRequest> call) {
                  calls.add(call);
                }

                @Override
                public void onNext(RunKernelResponse response) {}

                @Override
                public void onError(Throwable failure) {
                  final Status status = Status.fromThrowable(failure);
                  if (String.valueOf(status.getDescription()).startsWith(StatusTexts.OVERLOADED)) {
                    overloaded.incrementAndGet();
                    refused.countDown();
                  }
                  ended.countDown();
                }

                @Override
                public void onCompleted() {}
              });
    }
    assertTrue(refused.await(30, TimeUnit.SECONDS));
    calls.forEach(call -> call.cancel("enough", null));
    assertTrue(ended.await(30, TimeUnit.SECONDS));
    assertEquals(10, overloaded.get());
    // What was cancelled leaves its thread at once: all of it would take a minute.
    final long beginNs = System.nanoTime();
    assertEquals(key(ENTRIES), runBehind());
    assertTrue(System.nanoTime() - beginNs < TimeUnit.SECONDS.toNanos(20));
  }

  /** Runs a kernel that needs a thread of its own, once there is one. */
  private ByteString runBehind() {
    for (int n = 1; n < ENTRIES; n++) {
      index.put(PutRequest.newBuilder().setIndex("i").setKey(key(n)).setValue(key(n + 1)).build());
    }
    return run("chain", key(0));
  }

  /** Keys that stay are counted each time, though the owner is at the same leaves. */
  @Test
  void readsBesideWrites() throws InterruptedException {
    createChain(IndexKind.ORDERED, 200);
    final AtomicBoolean ending = new AtomicBoolean();
    final Thread writer =
        new Thread(
            () -> {
              final ByteString value = ByteString.copyFrom(new byte[700]);
              for (int n = 0; !ending.get(); n = (n + 7) % 200) {
                final ByteString other = key(n).concat(ByteString.copyFromUtf8("x"));
                index.put(
                    PutRequest.newBuilder().setIndex("i").setKey(other).setValue(value).build());
                index.delete(DeleteRequest.newBuilder().setIndex("i").setKey(other).build());
              }
            });
    writer.start();
    try {
      for (int round = 0; round < 300; round++) {
        final long count = CounterDescriptor.number(run("count", ByteString.EMPTY));
        assertTrue(count >= 200 && count < 300, "count=" + count); // and some that come and go
      }
    } finally {
      ending.set(true);
      writer.join();
    }
  }
}

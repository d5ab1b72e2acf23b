package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.CreateIndexResponse;
import dev.ringfetch.index.v1.DescribeRequest;
import dev.ringfetch.index.v1.DescribeResponse;
import dev.ringfetch.index.v1.IndexDescription;
import dev.ringfetch.index.v1.IndexKind;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.nio.file.Path;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Views of an index that exists in another kind than they would create. */
final class KindTest {
  @TempDir Path directory;

  private final AtomicInteger refusals = new AtomicInteger();

  private final TreeAdmin refusing =
      new TreeAdmin() {
        @Override
        public void createIndex(
            CreateIndexRequest request, StreamObserver<CreateIndexResponse> responses) {
          refusals.incrementAndGet();
          TreeIndex.fail(responses, Status.FAILED_PRECONDITION.withDescription("another kind"));
        }
      };

  private static TreeIndex of(IndexKind kind) {
    return new TreeIndex() {
      @Override
      public void describe(DescribeRequest request, StreamObserver<DescribeResponse> responses) {
        final IndexDescription.Builder index =
            IndexDescription.newBuilder()
                .setName(request.getIndex())
                .setKind(kind)
                .setIncarnation(INCARNATION);
        answer(responses, DescribeResponse.newBuilder().setIndex(index).build());
      }
    };
  }

  @Test
  void anOrderedIndexMayBeViewedByKeys() throws Exception {
    try (TestServer server = TestServer.startWith(directory, of(IndexKind.ORDERED), refusing);
        IndexClient client = server.connect()) {
      final HashIndex<String, Long> index = client.hash("a", Codec.string(), Codec.int64());
      index.put("a", 1L);
      index.put("a", 2L);
      index.async().put("b", 2L).join();
      assertEquals(2, index.get("a").orElseThrow());
      assertEquals(1, refusals.get());
    }
  }

  @Test
  void nothingIsAnsweredForAnIndexThatWasDroppedMeanwhile() throws Exception {
    final AtomicInteger asked = new AtomicInteger();
    final TreeAdmin admin =
        new TreeAdmin() {
          @Override
          public void createIndex(
              CreateIndexRequest request, StreamObserver<CreateIndexResponse> responses) {
            if (asked.getAndIncrement() % 2 == 0) {
              TreeIndex.fail(responses, Status.ALREADY_EXISTS.withDescription("another kind"));
            } else {
              super.createIndex(request, responses);
            }
          }
        };
    final TreeIndex dropped =
        new TreeIndex() {
          @Override
          public void describe(
              DescribeRequest request, StreamObserver<DescribeResponse> responses) {
            answer(responses, DescribeResponse.getDefaultInstance());
          }
        };
    try (TestServer server = TestServer.startWith(directory, dropped, admin);
        IndexClient client = server.connect()) {
      assertEquals(1, client.hash("a", Codec.string(), Codec.int64()).put("a", 1L));
      assertEquals(2, client.hash("b", Codec.string(), Codec.int64()).async().put("b", 1L).join());
      assertEquals(4, asked.get());
    }
    try (TestServer server = TestServer.startWith(directory, dropped, refusing);
        IndexClient client = server.connect()) {
      final IndexException e =
          assertThrows(
              IndexException.class,
              () -> client.hash("a", Codec.string(), Codec.int64()).put("a", 1L));
      assertTrue(e.getMessage().contains("another kind"), e.getMessage());
    }
  }

  @Test
  void anIndexWithoutOrderIsNoOrderedOne() throws Exception {
    try (TestServer server = TestServer.startWith(directory, of(IndexKind.HASH), refusing);
        IndexClient client = server.connect()) {
      final OrderedIndex<String, Long> index = client.ordered("a", Codec.string(), Codec.int64());
      final IndexException e = assertThrows(IndexException.class, () -> index.put("a", 1L));
      assertEquals(Status.Code.FAILED_PRECONDITION, e.code());
      assertTrue(e.getMessage().contains("the index is HASH, not ORDERED"), e.getMessage());
      assertFalse(e.isOutcomeUnknown());
      final Throwable same =
          assertThrows(CompletionException.class, () -> index.async().put("a", 1L).join())
              .getCause();
      assertInstanceOf(IndexException.class, same);
      assertEquals(e.getMessage(), same.getMessage());
    }
  }
}

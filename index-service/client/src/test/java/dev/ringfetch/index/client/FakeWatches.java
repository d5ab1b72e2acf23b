package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.WatchEvent;
import dev.ringfetch.index.v1.WatchRequest;
import dev.ringfetch.index.v1.WatchResponse;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.atomic.AtomicInteger;

/** A service whose watches are the test's. */
abstract class FakeWatches extends IndexGrpc.IndexImplBase {
  /** Watches that were begun. */
  final AtomicInteger calls = new AtomicInteger();

  @Override
  public void watch(WatchRequest request, StreamObserver<WatchResponse> responses) {
    ((ServerCallStreamObserver<WatchResponse>) responses).setOnCancelHandler(() -> {});
    answer(calls.incrementAndGet(), request, responses);
  }

  /** Answers a watch; the first one has number 1. */
  abstract void answer(int call, WatchRequest request, StreamObserver<WatchResponse> responses);

  /** A response without changes. */
  static WatchResponse response(String token) {
    return WatchResponse.newBuilder().setToken(ByteString.copyFromUtf8(token)).build();
  }

  /** A response with changes of the key "a": their versions, which are their values, too. */
  static WatchResponse response(String token, long... versions) {
    final WatchResponse.Builder response = response(token).toBuilder();
    for (final long version : versions) {
      response.addEvents(
          WatchEvent.newBuilder()
              .setKind(WatchEvent.Kind.PUT)
              .setKey(Codec.string().encode("a"))
              .setValue(Codec.int64().encode(version))
              .setVersion(version));
    }
    return response.build();
  }
}

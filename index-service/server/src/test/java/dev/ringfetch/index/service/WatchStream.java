package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.WatchEvent;
import dev.ringfetch.index.v1.WatchRequest;
import dev.ringfetch.index.v1.WatchResponse;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A watch as a client sees it: takes responses one at a time, as the test asks for them. */
final class WatchStream {
  private final ClientCall<WatchRequest, WatchResponse> call;
  private final BlockingQueue<Object> arrived = new LinkedBlockingQueue<>();
  private Metadata trailers;
  private ByteString token = ByteString.EMPTY;

  WatchStream(Channel channel, WatchRequest request) {
    call = channel.newCall(IndexGrpc.getWatchMethod(), CallOptions.DEFAULT);
    call.start(
        new ClientCall.Listener<>() {
          @Override
          public void onMessage(WatchResponse response) {
            arrived.add(response);
          }

          @Override
          public void onClose(Status status, Metadata metadata) {
            trailers = metadata;
            arrived.add(status);
          }
        },
        new Metadata());
    call.request(1);
    call.sendMessage(request);
    call.halfClose();
  }

  private Object arrival() {
    try {
      final Object next = arrived.poll(20, TimeUnit.SECONDS);
      assertNotNull(next, "nothing came");
      return next;
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** The next response. */
  WatchResponse next() {
    final Object next = arrival();
    assertTrue(next instanceof WatchResponse, next::toString);
    call.request(1);
    token = ((WatchResponse) next).getToken();
    return (WatchResponse) next;
  }

  /** Whether nothing has come that was not taken. */
  boolean isEmpty() {
    return arrived.isEmpty();
  }

  /** The next so many changes, however many responses it takes. */
  List<WatchEvent> events(int count) {
    final List<WatchEvent> events = new ArrayList<>();
    while (events.size() < count) {
      events.addAll(next().getEventsList());
    }
    assertEquals(count, events.size());
    return events;
  }

  /** How the call ends, after responses that do not matter. */
  Status end() {
    final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    Object next = arrival();
    while (next instanceof WatchResponse) {
      assertTrue(System.nanoTime() - endNs < 0, "the call goes on");
      token = ((WatchResponse) next).getToken();
      call.request(1);
      next = arrival();
    }
    return (Status) next;
  }

  /** How the call ends, with nothing before. */
  Status refusal() {
    final Object next = arrival();
    assertTrue(next instanceof Status, next::toString);
    return (Status) next;
  }

  Metadata trailers() {
    return trailers;
  }

  /** Token of the last response that was taken. */
  ByteString token() {
    return token;
  }

  void cancel() {
    call.cancel("the test has seen enough", null);
  }
}

package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.Arrays;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Calls of bytes on whatever carries them, and how they have ended. */
abstract class UnaryCallFixture extends RingFixture {
  static final Context.Key<String> KEY = Context.key("whose");

  /** What carries calls. */
  enum Way {
    /** A ring, and nothing but a ring is needed. */
    RING,
    /** Ordinary calls over a ring: the channel has an interceptor. */
    INTERCEPTED,
    /** gRPC. */
    GRPC
  }

  final RingChannel connect(Way way) throws Exception {
    return connect(way, builder());
  }

  final RingChannel connect(Way way, RingChannelBuilder builder) throws Exception {
    return switch (way) {
      case RING -> connect(builder.requireFabric());
      case INTERCEPTED -> connect(builder.requireFabric().intercept(new Counting()));
      case GRPC -> build(builder.fabrics("none-such"));
    };
  }

  /** How a call has ended. */
  static final class End {
    final byte[] answer;
    final Status status;
    final Metadata trailers;
    final String context = KEY.get();

    End(byte[] answer, Status status, Metadata trailers) {
      this.answer = answer;
      this.status = status;
      this.trailers = trailers;
    }
  }

  /** Keeps the ends. */
  static final class Ends implements UnaryListener {
    final BlockingQueue<End> ends = new LinkedBlockingQueue<>();

    @Override
    public void onAnswer(UnaryCall call, byte[] answer, int offset, int length) {
      ends.add(new End(Arrays.copyOfRange(answer, offset, offset + length), Status.OK, null));
    }

    @Override
    public void onFailure(UnaryCall call, Status status, Metadata trailers) {
      ends.add(new End(null, status, trailers));
    }

    End take() throws InterruptedException {
      final End end = ends.poll(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
      assertTrue(end != null, "no end");
      return end;
    }
  }

  static final class Counting implements ClientInterceptor {
    final AtomicInteger calls = new AtomicInteger();

    @Override
    public <Q, R> ClientCall<Q, R> interceptCall(
        MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
      calls.incrementAndGet();
      return next.newCall(method, options);
    }
  }

  final Ends ends = new Ends();

  static Status run(UnaryCall call, byte[] request) {
    return call.run(request, 0, request.length, UnaryCall.NO_TIMEOUT);
  }

  static void start(UnaryCall call, byte[] request) {
    call.start(request, 0, request.length, UnaryCall.NO_TIMEOUT);
  }
}

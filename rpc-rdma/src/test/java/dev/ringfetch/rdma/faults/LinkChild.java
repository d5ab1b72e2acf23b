package dev.ringfetch.rdma.faults;

import com.google.common.util.concurrent.FutureCallback;
import com.google.common.util.concurrent.Futures;
import com.google.common.util.concurrent.MoreExecutors;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingChannelBuilder;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import dev.ringfetch.system.HashIndex;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * A server, or a client with calls under way, on a machine whose link or peer is taken away
 * meanwhile. Each says what it sees, a line at a time, until it is ended from outside.
 */
final class LinkChild {
  private static final int HANGING = 5;
  private static final Duration DEADLINE = Duration.ofSeconds(5);

  /** What a call may take beyond its deadline, on a machine with one emulated processor. */
  private static final long SLACK_NS = TimeUnit.SECONDS.toNanos(2);

  private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(2);
  private static final long REPORT_NS = TimeUnit.SECONDS.toNanos(1);

  private final RingChannel channel;
  private final IndexGrpc.IndexBlockingStub blocking;
  private final Map<Status.Code, Integer> ends = new EnumMap<>(Status.Code.class);
  private final AtomicInteger hanging = new AtomicInteger();
  private long reportNs = System.nanoTime();
  private String transport = "";

  private LinkChild(RingChannel channel) {
    this.channel = channel;
    this.blocking = IndexGrpc.newBlockingStub(channel);
  }

  /** Takes "serve PORT" or "call HOST PORT". */
  public static void main(String[] args) throws IOException {
    if ("serve".equals(args[0])) {
      serve(Integer.parseInt(args[1]));
    } else {
      RingChannelBuilder builder =
          RingChannelBuilder.forAddress(args[1], Integer.parseInt(args[2]))
              .usePlaintext()
              .fabrics("verbs");
      new LinkChild(builder.build()).call();
    }
  }

  /** Says how many sessions there are, whenever there are more or fewer. */
  private static void serve(int port) throws IOException {
    RingServer server =
        RingServerBuilder.forPort(port)
            .fabrics("verbs")
            .addService(new HashIndex())
            .build()
            .start();
    System.out.println("serving");
    int told = 0;
    while (true) {
      int sessions = server.sessionCount();
      if (sessions != told) {
        System.out.println("sessions " + sessions);
        told = sessions;
      }
      LockSupport.parkNanos(PAUSE_NS);
    }
  }

  /** Calls one after the other, each with a deadline, beside calls without one that hang. */
  private void call() {
    // The first calls load classes, which takes longer than a deadline.
    do {
      System.out.println("warming up: " + FaultChild.call(channel, 0));
    } while (!channel.transport().isRing());
    for (long number = 1; ; number++) {
      hang();
      GetRequest request = HashIndex.request(number);
      long startNs = System.nanoTime();
      Status.Code end;
      try {
        GetResponse response = blocking.withDeadlineAfter(DEADLINE).get(request);
        end = HashIndex.isAnswer(request, response) ? Status.Code.OK : Status.Code.DATA_LOSS;
      } catch (StatusRuntimeException e) {
        end = e.getStatus().getCode();
      }
      long tookNs = System.nanoTime() - startNs;
      if (tookNs > DEADLINE.toNanos() + SLACK_NS) {
        System.out.println("LATE: " + end + " after " + tookNs / 1_000_000 + " ms");
      }
      ends.merge(end, 1, Integer::sum);
      report();
      LockSupport.parkNanos(PAUSE_NS);
    }
  }

  /** Where a ring carries them, so many calls hang at any time. */
  private void hang() {
    if (hanging.get() > 0 || !channel.transport().isRing()) {
      return;
    }
    hanging.set(HANGING);
    for (int i = 0; i < HANGING; i++) {
      Futures.addCallback(
          IndexGrpc.newFutureStub(channel).get(HashIndex.hangingRequest()),
          new FutureCallback<>() {
            @Override
            public void onSuccess(GetResponse response) {
              System.out.println("WRONG: what hangs was answered");
            }

            @Override
            public void onFailure(Throwable t) {
              if (hanging.decrementAndGet() == 0) {
                System.out.println("hanging calls ended: " + Status.fromThrowable(t));
              }
            }
          },
          MoreExecutors.directExecutor());
    }
    System.out.println("calls hang");
  }

  private void report() {
    String now = channel.transport().name();
    if (!now.equals(transport)) {
      System.out.println("transport " + now + ": " + channel.transport().reason());
      transport = now;
    }
    if (System.nanoTime() - reportNs > REPORT_NS) {
      reportNs = System.nanoTime();
      // In one piece, as somebody reads along.
      System.out.println(
          "calls " + ends + " ring=" + channel.ringCalls() + " grpc=" + channel.grpcCalls());
    }
  }
}

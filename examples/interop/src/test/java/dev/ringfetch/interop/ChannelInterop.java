package dev.ringfetch.interop;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Counters;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingChannelBuilder;
import io.grpc.ForwardingChannelBuilder2;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.census.GrpcCensus;
import io.grpc.netty.InternalNettyChannelBuilder;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.testing.integration.AbstractInteropTest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
import org.junit.Rule;
import org.junit.rules.TestRule;
import org.junit.rules.TestWatcher;
import org.junit.runner.Description;

/**
 * gRPC's interop suite on channels of ours. After each case it is asked which way the calls of all
 * its channels went, and whether rings have carried frames.
 */
public abstract class ChannelInterop extends AbstractInteropTest {
  private static final GrpcCensus TRACING = GrpcCensus.newBuilder().disableStats().build();

  /** Cases that cancel at once, or have a millisecond: all may be over before a frame is sent. */
  private static final Set<String> HASTY = Set.of("cancelAfterBegin", "timeoutOnSleepingServer");

  /** Cases that call a method which the server's table lacks: those calls go over gRPC. */
  private static final Set<String> UNNAMED = Set.of("unimplementedService");

  private static final long RING_S = 30;

  /** Directory of the shared-memory fabric; set by the caller of the cases. */
  static Path directory;

  /** Host of the server; set by the caller of the cases. */
  static String host = "localhost";

  /** The option that chooses the fabric; set by the caller of the cases. */
  static UnaryOperator<RingChannelBuilder> fabric = UnaryOperator.identity();

  /** Comes after a case that has passed, and not after one that skips itself. */
  @Rule
  public final TestRule transport =
      new TestWatcher() {
        private long framesBefore;

        @Override
        protected void starting(Description description) {
          unnamed = UNNAMED.contains(description.getMethodName());
          framesBefore = frames();
        }

        @Override
        protected void succeeded(Description description) {
          final long ringCalls = channels.stream().mapToLong(RingChannel::ringCalls).sum();
          verify(ringCalls, channels.stream().mapToLong(RingChannel::grpcCalls).sum());
          final long frames = frames() - framesBefore;
          // Without a ring call, the server may still count what it sent to an earlier case.
          if (!unnamed && !HASTY.contains(description.getMethodName())) {
            assertEquals("frames=" + frames + " of calls", ringCalls > 0, frames > 0);
          }
        }
      };

  private final List<RingChannel> channels = new CopyOnWriteArrayList<>();
  private boolean unnamed;

  /** The port to which the channels lead. */
  abstract int port();

  /** Options beside those that all have. */
  abstract RingChannelBuilder options(RingChannelBuilder builder);

  /** Whether calls of a case went where they should. */
  abstract void verify(long ringCalls, long grpcCalls);

  /** Frames that sessions of this process have sent so far. */
  private static long frames() {
    return Counters.ofThisProcess().stream()
        .mapToLong(counters -> counters.total(Counter.SESSION_FRAMES_SENT))
        .sum();
  }

  /** For a ring, and nothing else but for a method that the server does not name. */
  final RingChannelBuilder onRing(RingChannelBuilder builder) {
    final RingChannelBuilder ring = fabric.apply(builder).shmDirectory(directory);
    return unnamed ? ring : ring.requireFabric();
  }

  /** Calls went over a ring and nowhere else; the call of an unnamed method, over gRPC alone. */
  final void verifyOnRing(long ringCalls, long grpcCalls) {
    if (unnamed) {
      assertEquals("calls that went over a ring", 0, ringCalls);
      assertEquals("calls that went over gRPC", 1, grpcCalls);
      return;
    }
    assertTrue("no call went over a ring", ringCalls > 0);
    assertEquals("calls that went over gRPC", 0, grpcCalls);
  }

  /** A builder of gRPC's own channel. */
  NettyChannelBuilder nettyChannel() {
    return NettyChannelBuilder.forAddress(host, port());
  }

  @Override
  protected ManagedChannelBuilder<?> createChannelBuilder() {
    final NettyChannelBuilder netty = nettyChannel().usePlaintext();
    InternalNettyChannelBuilder.setStatsEnabled(netty, false); // the suite brings its own
    final RingChannelBuilder ring =
        options(
            RingChannelBuilder.over(netty, host + ":" + port())
                .spinTime(Duration.ZERO)
                .maxInboundMessageSize(MAX_MESSAGE_SIZE)
                .intercept(createCensusStatsClientInterceptor()));
    return new Remembering(TRACING.configureChannelBuilder(ring));
  }

  /** Waits for the ring: cases that cancel at once would cancel the wait for it. */
  final ManagedChannel connected(ManagedChannel channel) {
    channel.getState(true); // opens a ring
    final RingChannel ring = channels.get(channels.size() - 1);
    final long startNs = System.nanoTime();
    while (!ring.transport().isRing()) {
      assertTrue("no ring", System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(RING_S));
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
    }
    assertEquals("calls over the ring so far", 0, ring.ringCalls());
    return channel;
  }

  /** Keeps the channels: cases make some of their own. */
  private final class Remembering extends ForwardingChannelBuilder2<Remembering> {
    private final RingChannelBuilder ring;

    Remembering(RingChannelBuilder ring) {
      this.ring = ring;
    }

    @Override
    protected ManagedChannelBuilder<?> delegate() {
      return ring;
    }

    @Override
    public ManagedChannel build() {
      final RingChannel channel = ring.build();
      channels.add(channel);
      return channel;
    }
  }
}

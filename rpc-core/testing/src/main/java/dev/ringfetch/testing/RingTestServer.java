package dev.ringfetch.testing;

import dev.ringfetch.rpc.Experimental;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingChannelBuilder;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.BindableService;
import io.grpc.ConnectivityState;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * A server and a channel to it, both in the process of a test, with faults on demand:
 *
 * <pre>{@code
 * try (RingTestServer server = RingTestServer.start(new GreeterService())) {
 *   GreeterGrpc.GreeterBlockingStub greeter = GreeterGrpc.newBlockingStub(server.channel());
 *   greeter.greet(request);   // over a ring
 *   server.cutRing();         // calls under way end UNAVAILABLE, the next ones are served
 *   server.refuseRings();     // calls go over gRPC
 *   server.kill();            // calls end UNAVAILABLE
 *   server.offerRings();      // the server is back at its port, and the channel finds it
 * }
 * }</pre>
 *
 * <p>Each method returns when its effect is there, and throws an IllegalStateException if that
 * takes longer than {@value #LIMIT_S} s. A killed server's connections and rings end with it, as
 * those of a killed process; only its threads go on. One thread at a time uses this object; calls
 * over the channel may be made by any.
 */
@Experimental
public final class RingTestServer implements AutoCloseable {
  private static final long LIMIT_S = 30;
  private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);

  /** The condition that the test has asked for last. */
  private enum Condition {
    RINGS,
    GRPC,
    DEAD
  }

  private final Consumer<RingServerBuilder> options;
  private Condition condition = Condition.DEAD;
  private RingServer server; // the last one
  private int port; // 0: the system chooses
  private RingChannel channel;

  private RingTestServer(Consumer<RingServerBuilder> options) {
    this.options = options;
  }

  /** Starts a server with these services, and a channel with a ring to it. */
  public static RingTestServer start(BindableService... services) throws IOException {
    return start(
        server -> {
          for (final BindableService service : services) {
            server.addService(service);
          }
        },
        channel -> {});
  }

  /**
   * Starts a server and a channel with a ring to it.
   *
   * @param server adds services to the server's builder, and sets its options; called again when
   *     the server starts again.
   * @param channel sets the options of the channel's builder.
   */
  public static RingTestServer start(
      Consumer<RingServerBuilder> server, Consumer<RingChannelBuilder> channel) throws IOException {
    final RingTestServer started = new RingTestServer(server);
    try {
      started.serve(Condition.RINGS);
      final RingChannelBuilder builder =
          RingChannelBuilder.forTarget("localhost:" + started.port).usePlaintext();
      channel.accept(builder);
      started.channel = builder.build();
      started.awaitRing();
      return started;
    } catch (Throwable t) {
      started.close();
      throw t;
    }
  }

  /** The channel; it stays the same whatever becomes of the server. */
  public RingChannel channel() {
    return channel;
  }

  /** The port of the server; it stays the same. */
  public int port() {
    return port;
  }

  /**
   * Ends the ring at once, as its loss would: calls under way that the server may have seen end
   * UNAVAILABLE. gRPC's connection stays. The next calls go over gRPC, until the channel has opened
   * another ring.
   */
  public void cutRing() {
    channel.cutRings();
  }

  /** Waits until the next call goes over a ring. */
  public void awaitRing() {
    await("a ring", () -> isConnected() && channel.transport().isRing());
  }

  /** Replaces the server by one at the same port that serves over gRPC alone. */
  public void refuseRings() throws IOException {
    replace(Condition.GRPC);
    await("a connection without a ring", () -> isConnected() && !channel.transport().isRing());
  }

  /** Replaces the server by one at the same port that offers rings, and waits for one. */
  public void offerRings() throws IOException {
    replace(Condition.RINGS);
    awaitRing();
  }

  /** Ends the server with its connections, rings and calls, without a word to its clients. */
  public void kill() {
    if (condition != Condition.DEAD) {
      condition = Condition.DEAD;
      server.shutdownNow();
      await("the end of the server", server::isTerminated);
    }
  }

  private void replace(Condition next) throws IOException {
    if (condition != next) {
      kill();
      serve(next);
    }
  }

  private void serve(Condition next) throws IOException {
    final RingServerBuilder builder = RingServerBuilder.forPort(port);
    options.accept(builder);
    if (next == Condition.GRPC) {
      builder.fabrics();
    }
    server = builder.build().start();
    port = server.getPort();
    condition = next;
  }

  /** Also asks for a connection, and for a ring. */
  private boolean isConnected() {
    final ConnectivityState state = channel.getState(true);
    if (state == ConnectivityState.TRANSIENT_FAILURE) {
      channel.resetConnectBackoff();
    }
    return state == ConnectivityState.READY;
  }

  private void await(String what, BooleanSupplier reached) {
    final long begin = System.nanoTime();
    while (!reached.getAsBoolean()) {
      if (System.nanoTime() - begin > TimeUnit.SECONDS.toNanos(LIMIT_S)) {
        throw new IllegalStateException(
            what + " took longer than " + LIMIT_S + " s: transport=" + channel.transport());
      }
      LockSupport.parkNanos(PAUSE_NS);
    }
  }

  /** Ends the channel, then the server. */
  @Override
  public void close() {
    if (channel != null) {
      channel.shutdownNow();
      await("the end of the channel", channel::isTerminated);
    }
    if (server != null) {
      kill();
    }
  }
}

package dev.ringfetch.benchmarks.stages;

import dev.ringfetch.call.CallAcceptor;
import dev.ringfetch.call.ClientConnection;
import dev.ringfetch.call.Codecs;
import dev.ringfetch.call.DirectExecutor;
import dev.ringfetch.call.Peer;
import dev.ringfetch.call.ServerCallContext;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.session.ClientSession;
import dev.ringfetch.session.ServerSession;
import dev.ringfetch.session.SessionConnection;
import dev.ringfetch.session.SessionContext;
import dev.ringfetch.session.carrier.Geometry;
import dev.ringfetch.session.poller.Poller;
import io.grpc.Attributes;
import io.grpc.Channel;
import io.grpc.Context;
import io.grpc.HandlerRegistry;
import io.grpc.Metadata;
import io.grpc.SecurityLevel;
import io.grpc.ServerMethodDefinition;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.agrona.concurrent.NanoClock;

/**
 * A client and a server of one session in shared memory, both in the thread that calls: the caller
 * polls for its answer, and the second time that it looks at the clock after it has written, the
 * server's poller has a round. So a call has all parts except the way between two cores, and the
 * search of {@link dev.ringfetch.rpc.RingChannel} for a ring. For one thread.
 */
public final class OneThread implements AutoCloseable {
  private static final long NEVER_NS = TimeUnit.DAYS.toNanos(1);
  private static final long EPOCH = 0x5EED_5EED_5EED_5EEDL;
  private static final int WARM_UP_ROUNDS = 10;

  private final Split split;
  private final ShmPair pair;
  private final Poller serverPoller;
  private final Poller clientPoller;
  private final SplitIndex index;
  private final ClientSession session;
  private final Channel channel;

  private boolean written; // by the client, and the server has had no turn since
  private int idleLooks = 1; // at the clock, between that and the server's turn
  private int idleLeft = idleLooks;

  /** Opens the session, with the default settings. */
  public OneThread() throws IOException {
    this(new Split());
  }

  OneThread(Split split) throws IOException {
    this.split = split;
    this.index = new SplitIndex(split);
    final SessionContext ofServerSide = new SessionContext().spinNs(NEVER_NS); // never to sleep
    final SessionContext ofClientSide =
        new SessionContext().spinNs(NEVER_NS).clock((NanoClock) this::clientTime);
    final Geometry geometry = geometry(ofServerSide);
    this.pair =
        ShmPair.open(
            ArenaDescriptor.length(geometry.requestRingLength(), geometry.responseRingLength()));
    this.serverPoller = new Poller(pair.serverDoorbell(), ofServerSide);
    this.clientPoller = new Poller(pair.clientDoorbell(), ofClientSide);
    final List<ServerMethodDefinition<?, ?>> methods = index.methods();
    final CallAcceptor acceptor = acceptor(methods);
    new ServerSession(
            new SessionConnection(
                new SplitQueuePair(pair.ofServer(), () -> split.ended(Stage.answerWrite)),
                geometry,
                serverPoller),
            ofServerSide,
            (session, stream) -> {
              split.ended(Stage.poll);
              acceptor.onRequest(session, stream);
            },
            (session, reason) -> {})
        .serve();
    this.session =
        new ClientSession(
            new SessionConnection(
                new SplitQueuePair(pair.ofClient(), this::requestWritten), geometry, clientPoller),
            ofClientSide,
            (ended, reason) -> {});
    session.serve();
    for (int i = 0; i < WARM_UP_ROUNDS; i++) { // what was added is taken in
      serve();
      final int unused = clientPoller.doWork();
    }
    this.channel =
        new SplitChannel(
            new ClientConnection(
                session,
                pair.fabric(),
                methods.stream()
                    .map(method -> method.getMethodDescriptor().getFullMethodName())
                    .collect(Collectors.toList()),
                Attributes.EMPTY,
                SecurityLevel.NONE,
                Codecs.DEFAULT),
            split,
            index.getMethod());
  }

  private static Geometry geometry(SessionContext context) {
    return new Geometry(
        context.requestRingLength(),
        context.responseRingLength(),
        context.maxFrameLength(),
        context.maxStreams(),
        EPOCH,
        0, // as zeroed memory says it
        0);
  }

  private static CallAcceptor acceptor(List<ServerMethodDefinition<?, ?>> methods) {
    final Metadata handshake = new Metadata(); // the user agent of a gRPC client
    handshake.put(
        Metadata.Key.of("user-agent", Metadata.ASCII_STRING_MARSHALLER), "grpc-java-netty");
    handshake.put(
        Metadata.Key.of("grpc-accept-encoding", Metadata.ASCII_STRING_MARSHALLER), "gzip");
    final HandlerRegistry none =
        new HandlerRegistry() {
          @Override
          public ServerMethodDefinition<?, ?> lookupMethod(String name, String authority) {
            return null;
          }
        };
    return new CallAcceptor(
        new ServerCallContext(methods, none, DirectExecutor.INSTANCE),
        Context.ROOT,
        new Peer(Attributes.EMPTY, "one-thread", SecurityLevel.NONE, handshake));
  }

  private void requestWritten() {
    split.ended(Stage.write);
    written = true;
  }

  /** The client's clock. */
  private long clientTime() {
    if (written && idleLeft-- <= 0) {
      written = false;
      idleLeft = idleLooks;
      split.ended(Stage.sent);
      serve();
      split.ended(Stage.served);
    }
    return System.nanoTime();
  }

  /** A round of the server's poller. */
  void serve() {
    try {
      final int unused = serverPoller.doWork();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Adds so many polls in vain of the caller to each call before the server has its turn. */
  void idleRounds(int rounds) {
    idleLooks = 1 + rounds;
    idleLeft = idleLooks;
  }

  /** The client's session. */
  public ClientSession session() {
    return session;
  }

  /** A channel for blocking stubs of the index. */
  public Channel channel() {
    return channel;
  }

  @Override
  public void close() {
    for (final Poller poller : List.of(clientPoller, serverPoller)) {
      poller.close();
      poller.run(); // to its end, at once
    }
    pair.close();
  }
}

package dev.ringfetch.rpc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.fabric.Obstacle;
import io.grpc.Attributes;
import io.grpc.BinaryLog;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientStreamTracer;
import io.grpc.ConnectivityState;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The rings of a channel that another builder builds: diverts calls beneath all interceptors of
 * that channel, where gRPC's builders let a binary log in. The rings live as long as the balancer
 * that the {@link Tap} wraps: the channel's first call begins them, and the channel's idleness or
 * shutdown ends them. An idle channel holds nothing. Thread-safe.
 */
final class ChannelAttachment extends BinaryLog implements TapProvider.Owner {
  private static final String SECOND =
      "the builder has built a second channel, and attach() is for one";

  private static final String BUNDLED =
      "the channel's credentials have call credentials, which calls on a ring would lack; give them"
          + " to calls, by an interceptor or a stub";

  /** Headers that gRPC's own channels add to those of a call, beside those that begin so. */
  private static final Set<String> TRANSPORTS =
      Set.of("accept-encoding", "content-encoding", "content-type", "te", "user-agent");

  private static final String TRANSPORTS_PREFIX = "grpc-";

  private final String target;
  private final Factory factory;
  private final AtomicBoolean logged = new AtomicBoolean();

  @GuardedBy("this")
  private Channel innermost; // null until the channel is built

  @GuardedBy("this")
  private boolean ambiguous; // there are several channels

  private volatile RingChannel rings; // null: the channel is idle, or shut down

  /** Creates the attachment of a channel that is not built yet. */
  ChannelAttachment(String target, Factory factory) {
    this.target = target;
    this.factory = factory;
  }

  /** For tests: the rings, or null while the channel is idle. */
  RingChannel rings() {
    return rings;
  }

  @Override
  public Channel wrapChannel(Channel channel) {
    final RingChannel ending;
    synchronized (this) {
      if (innermost == null) {
        innermost = channel;
        return new Diversion(channel);
      }
      ambiguous = true;
      ending = rings;
      rings = null;
    }
    if (ending != null) {
      ending.shutdown();
    }
    log(SECOND);
    return channel;
  }

  @Override
  public Backends onTapBegins() {
    final Channel channel;
    synchronized (this) {
      if (innermost == null || ambiguous || rings != null) {
        return null;
      }
      channel = innermost;
    }
    final Backends backends = new Backends(true, null);
    try {
      final Control control = new Control(channel);
      rings = factory.create(backends, new Beneath(channel), control);
      control.rings = rings;
      return backends;
    } catch (RuntimeException | LinkageError e) { // gRPC serves, as it does without Ringfetch
      log(Obstacle.of(e));
      return null;
    }
  }

  @Override
  public void onTapEnds() {
    final RingChannel ending = rings;
    rings = null;
    if (ending != null) {
      ending.shutdown();
    }
  }

  private static boolean isOfTransport(String key) {
    return key.startsWith(TRANSPORTS_PREFIX) || TRANSPORTS.contains(key);
  }

  private void log(String reason) {
    if (logged.compareAndSet(false, true)) {
      System.getLogger(RingChannel.class.getName())
          .log(
              System.Logger.Level.INFO,
              "there is no ring to {0}, so calls go over gRPC: {1}",
              target,
              reason);
    }
  }

  @Override
  public <ReqT, RespT> ServerMethodDefinition<?, ?> wrapMethodDefinition(
      ServerMethodDefinition<ReqT, RespT> method) {
    return method; // of servers alone
  }

  @Override
  public void close() {}

  /** Creates the channel of the rings, over gRPC's own. */
  interface Factory {
    RingChannel create(Backends backends, ManagedChannel beneath, Channel control);
  }

  /** The channel that interceptors call: leads to rings while there are any. */
  private final class Diversion extends Channel {
    private final Channel channel;

    Diversion(Channel channel) {
      this.channel = channel;
    }

    @Override
    public <ReqT, RespT> ClientCall<ReqT, RespT> newCall(
        MethodDescriptor<ReqT, RespT> method, CallOptions options) {
      final RingChannel present = rings;
      if (present != null) {
        return present.newCall(method, options);
      }
      return channel.newCall(
          method, logged.get() ? options : options.withStreamTracerFactory(new Untapped()));
    }

    @Override
    public String authority() {
      return channel.authority();
    }
  }

  /** Tracers that notice that calls get streams without the tap. */
  private final class Untapped extends ClientStreamTracer.Factory {
    @Override
    public ClientStreamTracer newClientStreamTracer(
        ClientStreamTracer.StreamInfo info, Metadata headers) {
      return new ClientStreamTracer() {
        @Override
        public void streamCreated(Attributes transport, Metadata sent) {
          if (rings == null) {
            log(
                "another service config has replaced that of attach(); give policy and config to"
                    + " Ringfetch's builder, and call attach() last");
          }
        }
      };
    }
  }

  /**
   * The channel for the streams of sessions. It notices a {@code shutdownNow} of the application's
   * channel: calls on rings end with it, too. And it notices call credentials that are bundled with
   * the channel's credentials: gRPC adds what they ask for to every call beneath this channel, and
   * calls on a ring would lack it.
   */
  private static final class Control extends Channel {
    private final Channel channel;
    private volatile RingChannel rings;

    Control(Channel channel) {
      this.channel = channel;
    }

    @Override
    public <ReqT, RespT> ClientCall<ReqT, RespT> newCall(
        MethodDescriptor<ReqT, RespT> method, CallOptions options) {
      final Sent sent = new Sent();
      return new SimpleForwardingClientCall<>(
          channel.newCall(method, options.withStreamTracerFactory(sent))) {
        @Override
        public void start(Listener<RespT> listener, Metadata headers) {
          sent.own = Set.copyOf(headers.keys());
          super.start(
              new SimpleForwardingClientCallListener<>(listener) {
                @Override
                public void onHeaders(Metadata received) {
                  if (sent.isBundled) {
                    cancel(BUNDLED, null);
                  }
                  super.onHeaders(received);
                }

                @Override
                public void onMessage(RespT message) {
                  if (!sent.isBundled) {
                    super.onMessage(message);
                  }
                }

                @Override
                public void onClose(Status status, Metadata trailers) {
                  if (RingChannel.SHUTDOWN_NOW.equals(status.getDescription())
                      && !sent.isAnswered // the server, or a proxy, chooses its descriptions
                      && rings != null) {
                    rings.shutdownNow();
                  }
                  super.onClose(status, trailers);
                }
              },
              headers);
        }
      };
    }

    @Override
    public String authority() {
      return channel.authority();
    }
  }

  /**
   * Tracers of one call that notice headers which neither the caller nor the transport has set, and
   * whether the status comes from the server.
   */
  private static final class Sent extends ClientStreamTracer.Factory {
    private volatile Set<String> own = Set.of();
    private volatile boolean isBundled;
    private volatile boolean isAnswered; // the last stream has the trailers of the server

    @Override
    public ClientStreamTracer newClientStreamTracer(
        ClientStreamTracer.StreamInfo info, Metadata headers) {
      isAnswered = false;
      return new ClientStreamTracer() {
        @Override
        public void inboundTrailers(Metadata trailers) {
          isAnswered = true;
        }

        @Override
        public void streamCreated(Attributes transport, Metadata sent) {
          if (sent.keys().stream().anyMatch(key -> !own.contains(key) && !isOfTransport(key))) {
            isBundled = true;
          }
        }
      };
    }
  }

  /** gRPC's channel beneath the interceptors. The application owns it and its lifecycle. */
  private static final class Beneath extends ManagedChannel {
    private final Channel channel;
    private volatile boolean shutdown;

    Beneath(Channel channel) {
      this.channel = channel;
    }

    @Override
    public <ReqT, RespT> ClientCall<ReqT, RespT> newCall(
        MethodDescriptor<ReqT, RespT> method, CallOptions options) {
      return channel.newCall(method, options);
    }

    @Override
    public String authority() {
      return channel.authority();
    }

    @Override
    public ConnectivityState getState(boolean requestConnection) {
      return ConnectivityState.IDLE; // which of the others it is, only the application's one knows
    }

    @Override
    public ManagedChannel shutdown() {
      shutdown = true;
      return this;
    }

    @Override
    public ManagedChannel shutdownNow() {
      return shutdown();
    }

    @Override
    public boolean isShutdown() {
      return shutdown;
    }

    @Override
    public boolean isTerminated() {
      return shutdown;
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) {
      return shutdown;
    }
  }
}

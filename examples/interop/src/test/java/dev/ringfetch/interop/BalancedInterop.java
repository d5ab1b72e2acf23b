package dev.ringfetch.interop;

import static org.junit.Assert.assertTrue;

import dev.ringfetch.rpc.RingChannelBuilder;
import io.grpc.EquivalentAddressGroup;
import io.grpc.NameResolver;
import io.grpc.NameResolverProvider;
import io.grpc.StatusOr;
import io.grpc.netty.NettyChannelBuilder;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;

/** Three servers in other processes in turn, of which one offers no ring. */
public final class BalancedInterop extends ChannelInterop {
  /** Ports of the servers; set by the caller of the cases. */
  static final List<Integer> ports = new ArrayList<>();

  /** The resolver of the target; registered by the caller of the cases. */
  static final NameResolverProvider NAMES = new Names();

  @Override
  int port() {
    return ports.get(0);
  }

  @Override
  NettyChannelBuilder nettyChannel() {
    return NettyChannelBuilder.forTarget(NAMES.getDefaultScheme() + ":///servers");
  }

  @Override
  RingChannelBuilder options(RingChannelBuilder builder) {
    return builder.shmDirectory(directory).defaultLoadBalancingPolicy("round_robin");
  }

  @Override
  void verify(long ringCalls, long grpcCalls) {
    assertTrue("no call was carried", ringCalls + grpcCalls > 0);
  }

  private static final class Names extends NameResolverProvider {
    @Override
    public NameResolver newNameResolver(URI target, NameResolver.Args args) {
      return new NameResolver() {
        @Override
        public String getServiceAuthority() {
          return host;
        }

        @Override
        public void start(Listener2 listener) {
          final ResolutionResult result =
              ResolutionResult.newBuilder()
                  .setAddressesOrError(
                      StatusOr.fromValue(
                          ports.stream()
                              .map(
                                  port ->
                                      new EquivalentAddressGroup(
                                          new InetSocketAddress(
                                              InetAddress.getLoopbackAddress(), port)))
                              .toList()))
                  .build();
          args.getSynchronizationContext().execute(() -> listener.onResult2(result));
        }

        @Override
        public void shutdown() {}
      };
    }

    @Override
    public String getDefaultScheme() {
      return "ringfetch-interop";
    }

    @Override
    protected boolean isAvailable() {
      return true;
    }

    @Override
    protected int priority() {
      return 0;
    }
  }
}

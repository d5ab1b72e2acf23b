package dev.ringfetch.rpc;

import io.grpc.ChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.NameResolverRegistry;
import io.grpc.Server;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/** Rings to three servers with the same handlers, in turn. */
final class BalancedHarness extends RingHarness {
  private final List<Server> others = new ArrayList<>();
  private final Names names = new Names();

  @Override
  RingChannelBuilder newChannelBuilder(String target, ChannelCredentials credentials) {
    final List<Integer> ports = new ArrayList<>();
    ports.add(Integer.parseInt(target.substring(target.lastIndexOf(':') + 1)));
    try {
      while (others.size() < 2) {
        others.add(newServer(0).start());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    others.forEach(server -> ports.add(server.getPort()));
    names.resolve(ports, null);
    NameResolverRegistry.getDefaultRegistry().register(names);
    return super.newChannelBuilder(Names.TARGET, credentials)
        .defaultLoadBalancingPolicy("round_robin");
  }

  @Override
  String authority() {
    return "localhost";
  }

  /** Each call is on a ring from its start: there is one to each server. */
  @Override
  void awaitConnected(ManagedChannel channel) {
    final RingChannel rings = (RingChannel) channel;
    RingFixture.await(
        "a ring to each server",
        () -> {
          rings.awaitRing().join(); // to the next one in turn
          return rings.transports().stream().filter(to -> to.transport().isRing()).count() == 3;
        });
  }

  @Override
  void dispose() throws IOException {
    NameResolverRegistry.getDefaultRegistry().deregister(names);
    others.forEach(Server::shutdownNow);
    try {
      for (final Server server : others) {
        server.awaitTermination();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    super.dispose();
  }
}

package dev.ringfetch.examples.balance;

import io.grpc.EquivalentAddressGroup;
import io.grpc.NameResolver;
import io.grpc.NameResolverProvider;
import io.grpc.NameResolverRegistry;
import io.grpc.StatusOr;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;

/** Name resolver of the target {@code servers:///all}: the ports that the program sets. */
final class Addresses extends NameResolverProvider {
  static final String TARGET = "servers:///all";

  private static final int PRIORITY = 5;

  private final List<Resolver> resolvers = new ArrayList<>();
  private List<Integer> ports = List.of();

  /** Makes the target known to gRPC. */
  Addresses register() {
    NameResolverRegistry.getDefaultRegistry().register(this);
    return this;
  }

  /** Sets the ports, and tells the channels. */
  synchronized void set(List<Integer> changed) {
    ports = List.copyOf(changed);
    resolvers.forEach(Resolver::tell);
  }

  @Override
  public synchronized NameResolver newNameResolver(URI target, NameResolver.Args args) {
    final Resolver made = new Resolver(args);
    resolvers.add(made);
    return made;
  }

  @Override
  public String getDefaultScheme() {
    return "servers";
  }

  @Override
  protected boolean isAvailable() {
    return true;
  }

  @Override
  protected int priority() {
    return PRIORITY;
  }

  private final class Resolver extends NameResolver {
    private final Args args;
    private Listener2 listener; // guarded by the addresses

    Resolver(Args args) {
      this.args = args;
    }

    @Override
    public String getServiceAuthority() {
      return "localhost";
    }

    @Override
    public void start(Listener2 listening) {
      synchronized (Addresses.this) {
        listener = listening;
        tell();
      }
    }

    /** Called with the addresses locked, so that answers keep their order. */
    private void tell() {
      if (listener == null) {
        return;
      }
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
      final Listener2 told = listener;
      args.getSynchronizationContext().execute(() -> told.onResult2(result));
    }

    @Override
    public void shutdown() {
      synchronized (Addresses.this) {
        listener = null;
      }
    }
  }
}

package dev.ringfetch.rpc;

import io.grpc.EquivalentAddressGroup;
import io.grpc.NameResolver;
import io.grpc.NameResolverProvider;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Provider of a name resolver for the targets {@code ringfetch-test:///...} of a test, which
 * answers as the test says.
 */
final class Names extends NameResolverProvider {
  static final String TARGET = "ringfetch-test:///backends";

  private final List<Answering> resolvers = new ArrayList<>();
  private List<Integer> ports = List.of();
  private Map<String, ?> config;

  /** Sets the answer of new resolvers and of those that there are. */
  synchronized void resolve(List<Integer> answer, Map<String, ?> raw) {
    ports = List.copyOf(answer);
    config = raw;
    resolvers.forEach(Answering::answer);
  }

  @Override
  public synchronized NameResolver newNameResolver(URI target, NameResolver.Args args) {
    final Answering made = new Answering(args);
    resolvers.add(made);
    return made;
  }

  @Override
  public String getDefaultScheme() {
    return "ringfetch-test";
  }

  @Override
  protected boolean isAvailable() {
    return true;
  }

  @Override
  protected int priority() {
    return 0;
  }

  private final class Answering extends NameResolver {
    private final Args args;
    private Listener2 listener;

    Answering(Args args) {
      this.args = args;
    }

    @Override
    public String getServiceAuthority() {
      return "localhost";
    }

    @Override
    public void start(Listener2 told) {
      synchronized (Names.this) {
        listener = told;
        answer();
      }
    }

    /** Tells what the names resolve to, in the order of all other answers. */
    @SuppressWarnings("deprecation") // as resolvers of older versions do
    void answer() {
      if (listener == null) {
        return;
      }
      final ResolutionResult.Builder result =
          ResolutionResult.newBuilder()
              .setAddresses(
                  ports.stream()
                      .map(port -> new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                      .map(EquivalentAddressGroup::new)
                      .toList());
      if (config != null) {
        result.setServiceConfig(args.getServiceConfigParser().parseServiceConfig(config));
      }
      final ResolutionResult answer = result.build();
      final Listener2 told = listener;
      args.getSynchronizationContext().execute(() -> told.onResult(answer));
    }

    @Override
    public void shutdown() {
      synchronized (Names.this) {
        listener = null;
      }
    }
  }
}

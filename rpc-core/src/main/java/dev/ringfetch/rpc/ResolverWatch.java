package dev.ringfetch.rpc;

import io.grpc.NameResolver;
import io.grpc.NameResolver.ConfigOrError;
import io.grpc.NameResolver.ResolutionResult;
import io.grpc.NameResolverProvider;
import io.grpc.NameResolverRegistry;
import io.grpc.Status;
import java.net.SocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Collection;
import java.util.Collections;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;

/**
 * The provider of a channel's name resolver, which tells {@link Balancing} what the resolver
 * answers before it tells gRPC. The resolver itself is that of the application, or of gRPC's
 * registry.
 */
final class ResolverWatch extends NameResolverProvider {
  /** Schemes whose balancers resolve other names through the same registry. */
  private static final Set<String> UNWATCHED = Set.of("xds", "google-c2p");

  /** The place of a config that was not made by gRPC's parser. */
  private static final Map<String, ?> UNKNOWN = Map.of("unknown content", true);

  private static final System.Logger LOGGER = System.getLogger(ResolverWatch.class.getName());

  private static final int PRIORITY = 5; // there is no other

  private final NameResolver.Factory factory;
  private final String scheme;
  private final boolean looksUp;
  private final Balancing balancing;
  private final Map<Object, Map<String, ?>> configs =
      Collections.synchronizedMap(new WeakHashMap<>()); // by the parsed form
  private Map<String, ?> latest; // config of the resolver; owned by the thread that resolves names
  private URI target; // of the channel: balancers may resolve others

  /**
   * Creates the watch of one channel.
   *
   * @param scheme which the factory resolves.
   * @param looksUp whether the channel heeds service configs of the resolver.
   */
  ResolverWatch(NameResolver.Factory factory, String scheme, boolean looksUp, Balancing balancing) {
    this.factory = factory;
    this.scheme = scheme;
    this.looksUp = looksUp;
    this.balancing = balancing;
  }

  /** Returns the scheme by which gRPC resolves a target, or null if that cannot be watched. */
  static String scheme(String target) {
    final NameResolverRegistry registry = NameResolverRegistry.getDefaultRegistry();
    String scheme = null;
    try {
      scheme = new URI(target).getScheme();
    } catch (URISyntaxException e) { // such as the address of a host alone
      scheme = null;
    }
    if (scheme == null || registry.getProviderForScheme(scheme) == null) {
      scheme = registry.getDefaultScheme();
    }
    final String found = scheme.toLowerCase(Locale.ROOT);
    return UNWATCHED.contains(found) || registry.getProviderForScheme(found) == null ? null : found;
  }

  @Override
  public NameResolver newNameResolver(URI uri, NameResolver.Args args) {
    synchronized (this) {
      if (target == null) {
        target = uri;
      }
      if (!target.equals(uri)) {
        return factory.newNameResolver(uri, args);
      }
    }
    final NameResolver.ServiceConfigParser parser = args.getServiceConfigParser();
    final NameResolver made =
        factory.newNameResolver(
            uri,
            args.toBuilder()
                .setServiceConfigParser(
                    new NameResolver.ServiceConfigParser() {
                      @Override
                      public ConfigOrError parseServiceConfig(Map<String, ?> config) {
                        final ConfigOrError parsed = parser.parseServiceConfig(config);
                        if (parsed.getConfig() != null) {
                          configs.put(parsed.getConfig(), config);
                        }
                        return parsed;
                      }
                    })
                .build());
    return made == null ? null : new Watched(made);
  }

  @SuppressWarnings("deprecation") // the successor of getAddresses is younger than gRPC's versions
  private void onResult(ResolutionResult result) {
    final ConfigOrError config = looksUp ? result.getServiceConfig() : null;
    if (config == null) {
      latest = null;
    } else if (config.getConfig() != null) {
      latest = configs.getOrDefault(config.getConfig(), UNKNOWN);
    } else if (balancing.hasConfig()) { // it takes the place of an invalid one
      latest = null;
    }
    try {
      balancing.onResolved(result.getAddresses().size(), latest);
    } catch (IllegalStateException e) { // an error in their place: gRPC keeps the earlier ones
      LOGGER.log(System.Logger.Level.DEBUG, "the name resolver has no addresses", e);
    }
  }

  @Override
  public String getDefaultScheme() {
    return scheme;
  }

  @Override
  protected boolean isAvailable() {
    return true;
  }

  @Override
  protected int priority() {
    return PRIORITY;
  }

  @Override
  public Collection<Class<? extends SocketAddress>> getProducedSocketAddressTypes() {
    return factory instanceof NameResolverProvider provider
        ? provider.getProducedSocketAddressTypes()
        : super.getProducedSocketAddressTypes();
  }

  /** The resolver of the channel. */
  private final class Watched extends NameResolver {
    private final NameResolver resolver;

    Watched(NameResolver resolver) {
      this.resolver = resolver;
    }

    @Override
    public String getServiceAuthority() {
      return resolver.getServiceAuthority();
    }

    @Override
    public void start(Listener2 listener) {
      resolver.start(
          new Listener2() {
            @Override
            public void onResult(ResolutionResult result) {
              ResolverWatch.this.onResult(result);
              listener.onResult(result);
            }

            @Override
            public Status onResult2(ResolutionResult result) {
              ResolverWatch.this.onResult(result);
              return listener.onResult2(result);
            }

            @Override
            public void onError(Status error) {
              listener.onError(error);
            }
          });
    }

    @Override
    public void refresh() {
      resolver.refresh();
    }

    @Override
    public void shutdown() {
      resolver.shutdown();
    }
  }
}

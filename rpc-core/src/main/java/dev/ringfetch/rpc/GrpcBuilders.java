package dev.ringfetch.rpc;

import dev.ringfetch.fabric.Obstacle;
import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.InternalManagedChannelProvider;
import io.grpc.InternalServerProvider;
import io.grpc.ManagedChannelBuilder;
import io.grpc.ManagedChannelProvider;
import io.grpc.ManagedChannelRegistry;
import io.grpc.ServerBuilder;
import io.grpc.ServerCredentials;
import io.grpc.ServerProvider;
import io.grpc.ServerRegistry;
import java.util.function.Supplier;

/**
 * Factory of builders of gRPC's own channels and servers, from grpc-api's registry. Where Ringfetch
 * is the drop-in it is in that registry itself, and must not find itself there: {@link #isSought}
 * lets the registry pass to the next provider where it can, and where it cannot, the next one is
 * looked up here.
 */
final class GrpcBuilders {
  /** System property that makes Ringfetch the drop-in, or environment variable. */
  static final String PROPERTY = "ringfetch.dropin";

  static final String VARIABLE = "RINGFETCH_DROPIN";

  /** Above the priority of gRPC's own transports. */
  static final int PRIORITY = 9;

  private static final ThreadLocal<Boolean> SOUGHT = ThreadLocal.withInitial(() -> false);

  private GrpcBuilders() {}

  /**
   * True if Ringfetch is the drop-in and can be: with a gRPC version that is too old, applications
   * keep gRPC's own transport, and the log says so.
   */
  static boolean isDropInAvailable() {
    if (!isDropIn()) {
      return false;
    }
    final String obstacle = GrpcVersion.obstacle();
    if (obstacle != null) {
      Misconfiguration.log("there are no rings: " + obstacle);
    }
    return obstacle == null;
  }

  /** True if Ringfetch is the drop-in, so that unchanged applications get rings. */
  static boolean isDropIn() {
    return isDropIn(System.getProperty(PROPERTY, System.getenv(VARIABLE)));
  }

  /** As {@link #isDropIn()}, of a value that is set, or null. */
  static boolean isDropIn(String value) {
    final boolean dropIn = Boolean.parseBoolean(value);
    if (!dropIn && value != null && !value.isEmpty() && !value.equalsIgnoreCase("false")) {
      Misconfiguration.log(
          "there are no rings for "
              + PROPERTY
              + " or "
              + VARIABLE
              + " set to \""
              + value
              + "\": it is true or false");
    }
    return dropIn;
  }

  /** True on a thread that looks for gRPC's own builder in the registry. */
  static boolean isSought() {
    return SOUGHT.get();
  }

  static ManagedChannelBuilder<?> forTarget(String target) {
    return isDropIn()
        ? InternalManagedChannelProvider.builderForTarget(NextChannels.PROVIDER, target)
        : ManagedChannelBuilder.forTarget(target);
  }

  static ManagedChannelBuilder<?> forAddress(String name, int port) {
    return isDropIn()
        ? InternalManagedChannelProvider.builderForAddress(NextChannels.PROVIDER, name, port)
        : ManagedChannelBuilder.forAddress(name, port);
  }

  static ManagedChannelBuilder<?> newChannelBuilder(String target, ChannelCredentials credentials) {
    return seek(() -> Grpc.newChannelBuilder(target, credentials));
  }

  static ServerBuilder<?> forPort(int port) {
    return isDropIn()
        ? InternalServerProvider.builderForPort(NextServers.PROVIDER, port)
        : ServerBuilder.forPort(port);
  }

  static ServerBuilder<?> newServerBuilder(int port, ServerCredentials credentials) {
    return seek(() -> Grpc.newServerBuilderForPort(port, credentials));
  }

  /** Returns a builder with rings; logs and returns the plain one where classes are missing. */
  static <T> T orPlain(Supplier<? extends T> rings, Supplier<? extends T> plain) {
    try {
      return rings.get();
    } catch (LinkageError e) { // if it is the application's own, the plain builder meets it, too
      Misconfiguration.log("there are no rings: " + Obstacle.of(e));
      return plain.get();
    }
  }

  private static <T> T seek(Supplier<T> registry) {
    final boolean before = SOUGHT.get();
    SOUGHT.set(true);
    try {
      return registry.get();
    } finally {
      SOUGHT.set(before);
    }
  }

  /** Finds the channel provider behind the drop-in; the registry returns only its first one. */
  private static final class NextChannels {
    static final ManagedChannelProvider PROVIDER = find();

    private static ManagedChannelProvider find() {
      final ManagedChannelRegistry registry = ManagedChannelRegistry.getDefaultRegistry();
      final ManagedChannelProvider own = ManagedChannelProvider.provider();
      if (!(own instanceof DropInChannelProvider)) {
        return own;
      }
      registry.deregister(own);
      try {
        return ManagedChannelProvider.provider();
      } finally {
        registry.register(own);
      }
    }
  }

  /** Finds the server provider behind the drop-in, as {@link NextChannels} does. */
  private static final class NextServers {
    static final ServerProvider PROVIDER = find();

    private static ServerProvider find() {
      final ServerRegistry registry = ServerRegistry.getDefaultRegistry();
      final ServerProvider own = ServerProvider.provider();
      if (!(own instanceof DropInServerProvider)) {
        return own;
      }
      registry.deregister(own);
      try {
        return ServerProvider.provider();
      } finally {
        registry.register(own);
      }
    }
  }
}

package dev.ringfetch.rpc;

import io.grpc.Grpc;
import java.security.CodeSource;
import java.util.List;

/**
 * Check that the application's version of gRPC is not older than the oldest supported one. The
 * classes decide, not the version number, because a jar that contains a whole application has a
 * number of its own.
 */
final class GrpcVersion {
  /** Oldest version that is tested. */
  static final String NEEDED = "1.65";

  /** Classes of grpc-api that this package needs, and that the newest unsupported version lacks. */
  private static final List<String> NEEDED_CLASSES =
      List.of("io.grpc.InternalConfiguratorRegistry", "io.grpc.MetricSink");

  private static final String OBSTACLE = find(Grpc.class.getClassLoader());

  private GrpcVersion() {}

  /** Returns in one line why there are no rings with this version, or null. */
  static String obstacle() {
    return OBSTACLE;
  }

  /** Refuses a version that is too old. */
  static void check() {
    if (OBSTACLE != null) {
      throw new IllegalStateException(OBSTACLE);
    }
  }

  private static String find(ClassLoader loader) {
    for (final String name : NEEDED_CLASSES) {
      try {
        Class.forName(name, false, loader);
      } catch (ClassNotFoundException | LinkageError e) {
        return "Ringfetch needs gRPC " + NEEDED + " or newer: found=" + found() + " lacks=" + name;
      }
    }
    return null;
  }

  private static String found() {
    final String version = Grpc.class.getPackage().getImplementationVersion();
    if (version != null) {
      return version;
    }
    final CodeSource source = Grpc.class.getProtectionDomain().getCodeSource();
    return source == null ? "unknown" : String.valueOf(source.getLocation());
  }
}

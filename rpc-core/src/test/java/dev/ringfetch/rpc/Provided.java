package dev.ringfetch.rpc;

import dev.ringfetch.fabric.FabricProvider;
import java.util.List;

/** Builders that use a test's own provider in place of those on the class path. */
public final class Provided {
  private Provided() {}

  public static RingServerBuilder by(FabricProvider provider, RingServerBuilder builder) {
    return builder.providers(List.of(provider));
  }

  public static RingChannelBuilder by(FabricProvider provider, RingChannelBuilder builder) {
    return builder.providers(List.of(provider));
  }
}

package dev.ringfetch.index.peers;

import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.index.onesided.PeerMemory;
import java.util.List;

/** The memory between nodes as it is, over a fabric of a test. */
public final class ConnectedMemory {
  private ConnectedMemory() {}

  /** Reaches members over this fabric, and connects at once. */
  public static PeerMemory over(Fabric fabric) {
    return new FabricMemory(List.of(fabric), Runnable::run);
  }
}

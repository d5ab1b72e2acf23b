package dev.ringfetch.fabric;

import java.io.IOException;

/**
 * Entry point of a fabric, found by {@link java.util.ServiceLoader}.
 *
 * <p>Implementations have a public constructor without arguments that neither throws nor acquires
 * anything; {@link #name()}, {@link #priority()} and {@link #unavailability()} may be called from
 * any thread, before and after {@link #open}.
 */
public interface FabricProvider {
  /** Name that both sides use for this fabric in the handshake, for example {@code shm}. */
  String name();

  /** Where several fabrics connect two processes, the one with the highest priority is used. */
  int priority();

  /**
   * Returns in one line why this fabric cannot be used in this process, or null if it can. Never
   * throws.
   */
  String unavailability();

  /**
   * Opens the fabric.
   *
   * @throws IOException when the fabric cannot be used after all, with the reason as its message.
   */
  Fabric open(FabricContext context) throws IOException;
}

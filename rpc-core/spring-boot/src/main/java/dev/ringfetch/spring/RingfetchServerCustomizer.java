package dev.ringfetch.spring;

import dev.ringfetch.rpc.RingServerBuilder;

/**
 * A callback that customizes the rings of servers: pollers, budgets, stream tracers and whatever
 * else has no property. A bean of this type is called for each server that gets rings, after the
 * properties have been applied and right before the rings are attached.
 */
@FunctionalInterface
public interface RingfetchServerCustomizer {
  /**
   * Customizes the rings of a server.
   *
   * @param rings over the builder of the server; the starter calls {@code attach()}.
   */
  void customize(RingServerBuilder rings);
}

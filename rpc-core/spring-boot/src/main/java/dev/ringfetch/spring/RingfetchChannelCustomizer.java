package dev.ringfetch.spring;

import dev.ringfetch.rpc.RingChannelBuilder;

/**
 * A callback that customizes the rings of channels: spin time, budgets, executors and whatever else
 * has no property. A bean of this type is called for each channel that gets rings, after properties
 * and service config have been applied and right before the rings are attached.
 */
@FunctionalInterface
public interface RingfetchChannelCustomizer {
  /**
   * Customizes the rings of a channel.
   *
   * @param target as the application gives it to Boot's factory of channels.
   * @param rings over the builder of the channel; the starter calls {@code attach()}.
   */
  void customize(String target, RingChannelBuilder rings);
}

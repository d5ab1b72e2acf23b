package dev.ringfetch.spring;

import dev.ringfetch.index.client.Access;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties {@code ringfetch.index}.
 *
 * @param target the server or cluster, as {@code IndexClientBuilder.target} has it; unset: the
 *     application has a bean of its own, or no client.
 */
@ConfigurationProperties("ringfetch.index")
public record RingfetchIndexProperties(
    @Nullable String target, @DefaultValue Caches cache, @DefaultValue Sessions session) {
  /**
   * The caches, as {@link IndexCacheManager} has them.
   *
   * @param enabled whether Spring's caches are indexes.
   * @param prefix what comes before a cache's name in the name of its index.
   * @param timeToLive of entries; null: they stay.
   * @param timeToLives those of single caches, by their names.
   * @param nullValues whether a cache keeps that there is no value.
   * @param access the route of reads.
   */
  public record Caches(
      boolean enabled,
      @DefaultValue("cache.") String prefix,
      @Nullable Duration timeToLive,
      @DefaultValue Map<String, Duration> timeToLives,
      @DefaultValue("true") boolean nullValues,
      @DefaultValue("rpc") Access access) {}

  /**
   * The sessions, as {@link IndexSessionRepository} has them.
   *
   * @param enabled whether Spring's sessions are in an index.
   * @param index its name.
   */
  public record Sessions(boolean enabled, @DefaultValue("sessions") String index) {}
}

package dev.ringfetch.spring;

import dev.ringfetch.index.client.Access;
import dev.ringfetch.index.client.Codec;
import dev.ringfetch.index.client.IndexClient;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.cache.Cache;
import org.springframework.cache.support.AbstractCacheManager;

/**
 * Spring's caches on an index server: each is a hash index, which all applications of the server
 * share. Settings hold for caches that are asked for later.
 */
public final class IndexCacheManager extends AbstractCacheManager {
  private final IndexClient client;
  private final Codec<Object> values;
  private final Map<String, Duration> timesToLive = new ConcurrentHashMap<>();

  private String prefix = "cache.";
  private volatile @Nullable Duration timeToLive;
  private boolean nullValues = true;
  private Access access = Access.RPC;

  /** Creates a manager whose values are serialized by the JDK, as those of Spring's Redis cache. */
  public IndexCacheManager(IndexClient client) {
    this(client, new SerializedCodec<>());
  }

  /** Creates a manager whose values have the form of this codec. */
  public IndexCacheManager(IndexClient client, Codec<Object> values) {
    this.client = client;
    this.values = values;
  }

  /** Sets what comes before a cache's name in the name of its index; default {@code cache.}. */
  public IndexCacheManager prefix(String beforeNames) {
    this.prefix = beforeNames;
    return this;
  }

  /** Sets the time to live of entries from their write on; by default they stay. */
  public IndexCacheManager timeToLive(Duration ofAllCaches) {
    this.timeToLive = ofAllCaches;
    return this;
  }

  /** Sets the time to live of the entries of one cache. */
  public IndexCacheManager timeToLive(String cache, Duration ofEntries) {
    timesToLive.put(cache, ofEntries);
    return this;
  }

  /** Sets whether a cache keeps that there is no value; default true. */
  public IndexCacheManager nullValues(boolean allowed) {
    this.nullValues = allowed;
    return this;
  }

  /** Sets the route of reads; default {@link Access#RPC}. */
  public IndexCacheManager access(Access ofReads) {
    this.access = ofReads;
    return this;
  }

  /** Caches come into being when they are asked for. */
  @Override
  protected Collection<? extends Cache> loadCaches() {
    return List.of();
  }

  @Override
  protected Cache getMissingCache(String name) {
    final Codec<Object> stored = nullValues ? new NullableCodec(values) : values;
    return new IndexCache(
        name,
        client.hash(prefix + name, Codec.string(), stored).access(access),
        timesToLive.getOrDefault(name, timeToLive),
        nullValues);
  }
}

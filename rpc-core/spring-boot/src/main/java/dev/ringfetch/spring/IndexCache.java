package dev.ringfetch.spring;

import dev.ringfetch.index.client.HashIndex;
import dev.ringfetch.index.client.ScanIterator;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.cache.support.AbstractValueAdaptingCache;

/**
 * A cache of Spring in a hash index. Keys are text: strings as they are, other keys as their {@code
 * toString} writes them. Of the callers in this process that miss the same key, one loads its
 * value, and the others take it.
 */
final class IndexCache extends AbstractValueAdaptingCache {
  /** Removals of {@link #clear} that are under way; a quarter of what a client may have. */
  private static final int REMOVALS = 256;

  private final String name;
  private final HashIndex<String, Object> index;
  private final @Nullable Duration timeToLive; // null: entries stay
  private final Map<String, Load> loads = new ConcurrentHashMap<>();

  /** A load that is under way, and the thread that began it. */
  private record Load(Thread thread, CompletableFuture<Object> value) {
    Load() {
      this(Thread.currentThread(), new CompletableFuture<>());
    }
  }

  IndexCache(
      String name,
      HashIndex<String, Object> index,
      @Nullable Duration timeToLive,
      boolean nullValues) {
    super(nullValues);
    this.name = name;
    this.index = index;
    this.timeToLive = timeToLive;
  }

  @Override
  public String getName() {
    return name;
  }

  @Override
  public HashIndex<String, Object> getNativeCache() {
    return index;
  }

  /** The text of a key. Two keys with equal texts are one. */
  private static String text(Object key) {
    if (key instanceof String text) {
      return text;
    }
    try {
      if (key.getClass().getMethod("toString").getDeclaringClass() == Object.class) {
        throw new IllegalArgumentException(
            "key of " + key.getClass() + " has no toString of its own: use another key");
      }
    } catch (NoSuchMethodException e) {
      throw new AssertionError(e);
    }
    return key.toString();
  }

  @Override
  protected @Nullable Object lookup(Object key) {
    return index.get(text(key)).orElse(null);
  }

  @Override
  @SuppressWarnings("unchecked") // the type is that of the loader's values, as Spring has it
  public <T> @Nullable T get(Object key, Callable<T> loader) {
    final ValueWrapper cached = get(key);
    return (T) (cached != null ? cached.get() : load(key, loader));
  }

  private @Nullable Object load(Object key, Callable<?> loader) {
    final Load mine = new Load();
    final Load others = loads.putIfAbsent(text(key), mine);
    if (others != null) {
      if (others.thread == mine.thread && !others.value.isDone()) {
        throw new IllegalStateException("the loader of a key asks for the same key: key=" + key);
      }
      return result(key, loader, others.value);
    }
    try {
      final ValueWrapper cached = get(key); // another load may just have ended
      if (cached != null) {
        mine.value.complete(cached.get());
      } else {
        final Object value = loader.call();
        put(key, value);
        mine.value.complete(value);
      }
    } catch (Throwable e) { // the others wait
      mine.value.completeExceptionally(e);
    } finally {
      loads.remove(text(key), mine);
    }
    return result(key, loader, mine.value);
  }

  private static @Nullable Object result(
      Object key, Callable<?> loader, CompletableFuture<Object> load) {
    try {
      return load.get();
    } catch (ExecutionException e) {
      throw new ValueRetrievalException(key, loader, e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ValueRetrievalException(key, loader, e);
    }
  }

  @Override
  public CompletableFuture<@Nullable ValueWrapper> retrieve(Object key) {
    return index.async().get(text(key)).thenApply(value -> toValueWrapper(value.orElse(null)));
  }

  @Override
  @SuppressWarnings("unchecked") // as above
  public <T> CompletableFuture<T> retrieve(Object key, Supplier<CompletableFuture<T>> loader) {
    return (CompletableFuture<T>)
        retrieve(key)
            .thenCompose(
                cached ->
                    cached != null
                        ? CompletableFuture.completedFuture(cached.get())
                        : load(key, loader));
  }

  private <T> CompletableFuture<Object> load(Object key, Supplier<CompletableFuture<T>> loader) {
    final Load mine = new Load();
    final Load others = loads.putIfAbsent(text(key), mine);
    if (others != null) {
      return others.value.copy(); // which its caller may cancel
    }
    return CompletableFuture.completedFuture(key)
        .thenCompose(this::retrieve) // another load may just have ended
        .thenCompose(
            cached ->
                cached != null
                    ? CompletableFuture.<Object>completedFuture(cached.get())
                    : loader.get().thenCompose(value -> putLater(key, value)))
        .whenComplete(
            (value, failure) -> {
              loads.remove(text(key), mine);
              if (failure == null) {
                mine.value.complete(value);
              } else {
                mine.value.completeExceptionally(failure);
              }
            });
  }

  private CompletableFuture<Object> putLater(Object key, @Nullable Object value) {
    final Object stored = toStoreValue(value);
    return (timeToLive == null
            ? index.async().put(text(key), stored)
            : index.async().put(text(key), stored, timeToLive))
        .thenApply(version -> value);
  }

  @Override
  public void put(Object key, @Nullable Object value) {
    final Object stored = toStoreValue(value);
    if (timeToLive == null) {
      index.put(text(key), stored);
    } else {
      index.put(text(key), stored, timeToLive);
    }
  }

  @Override
  public @Nullable ValueWrapper putIfAbsent(Object key, @Nullable Object value) {
    final Object stored = toStoreValue(value);
    while (true) {
      final var result =
          timeToLive == null
              ? index.compareAndSet(text(key), 0, stored)
              : index.compareAndSet(text(key), 0, stored, timeToLive);
      if (result.applied()) {
        return null;
      }
      if (result.entry().isPresent()) { // else it has ended meanwhile
        return toValueWrapper(result.entry().get().value());
      }
    }
  }

  @Override
  public void evict(Object key) {
    evictIfPresent(key);
  }

  @Override
  public boolean evictIfPresent(Object key) {
    return index.remove(text(key));
  }

  @Override
  public void clear() {
    invalidate();
  }

  /** Removes the entries that are there during the whole call. Their index stays. */
  @Override
  public boolean invalidate() {
    boolean removed = false;
    try (ScanIterator<String> keys = index.keys().iterator()) {
      while (keys.hasNext()) {
        final List<CompletableFuture<Boolean>> removals = new ArrayList<>();
        while (removals.size() < REMOVALS && keys.hasNext()) {
          removals.add(index.async().remove(keys.next()));
        }
        for (final CompletableFuture<Boolean> removal : removals) {
          removed |= removal.join();
        }
      }
    }
    return removed;
  }
}

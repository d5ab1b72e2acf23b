package dev.ringfetch.index.store;

import java.util.concurrent.ConcurrentHashMap;

/**
 * The indexes of a server, by name. The one called {@value #DEFAULT_NAME} is there from the start;
 * the empty name stands for it. An index stays once it was created, even without entries.
 *
 * <p>Safe for use by many threads; finding takes no lock.
 */
public final class Indexes {
  /** Name of the index that the empty name stands for. */
  public static final String DEFAULT_NAME = "default";

  /** The most indexes that there can be, the default one included. */
  public static final int MAX_INDEXES = 1024;

  private final HashStore defaultStore = new HashStore();
  private final ConcurrentHashMap<String, HashStore> stores = new ConcurrentHashMap<>();

  /** Creates the default index, empty. */
  public Indexes() {
    stores.put(DEFAULT_NAME, defaultStore);
  }

  /** Returns the index of that name, or null if there is none. */
  public HashStore find(String name) {
    return name.isEmpty() ? defaultStore : stores.get(name);
  }

  /**
   * Returns the index of that name, which is created if there is none; null if there are {@value
   * #MAX_INDEXES} others already.
   */
  public HashStore findOrCreate(String name) {
    final HashStore found = find(name);
    return found != null ? found : create(name);
  }

  /** One thread at a time, so that the count and the creation go together. */
  private synchronized HashStore create(String name) {
    final HashStore found = stores.get(name);
    if (found != null || stores.size() >= MAX_INDEXES) {
      return found;
    }
    final HashStore created = new HashStore();
    stores.put(name, created);
    return created;
  }
}

package dev.ringfetch.benchmarks.stores;

import java.nio.file.Path;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.params.SetParams;

/** A lock in a Redis server at a Unix socket: SET NX PX, and DEL. */
public final class LockStore implements AutoCloseable {
  private static final String KEY = "lock";
  private static final SetParams IF_FREE = new SetParams().nx().px(10_000);

  private final Jedis jedis;
  private long fence;

  private LockStore(Jedis jedis) {
    this.jedis = jedis;
  }

  /** Connects to the server at a socket. */
  public static LockStore redis(Path socket) {
    return new LockStore(RedisStore.connect(socket));
  }

  /** Acquires the lock, which is free, and releases it. */
  public void lockAndUnlock() {
    if (jedis.set(KEY, String.valueOf(++fence), IF_FREE) == null) {
      throw new IllegalStateException("not free: key=" + KEY);
    }
    jedis.del(KEY);
  }

  /** Asks for the lock until it is free, does some work while it is held, and releases it. */
  public void hold(Runnable work) {
    while (jedis.set(KEY, String.valueOf(++fence), IF_FREE) == null) {
      // An answer takes as long as other clients would pause.
    }
    try {
      work.run();
    } finally {
      jedis.del(KEY);
    }
  }

  @Override
  public void close() {
    jedis.close();
  }
}

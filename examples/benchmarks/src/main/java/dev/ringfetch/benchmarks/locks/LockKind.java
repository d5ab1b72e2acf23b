package dev.ringfetch.benchmarks.locks;

import dev.ringfetch.benchmarks.stores.LockStore;
import dev.ringfetch.index.client.IndexClient;
import dev.ringfetch.index.client.IndexLock;
import dev.ringfetch.memory.Memory;
import dev.ringfetch.memory.RemoteLock;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingChannelBuilder;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;

/** A kind of lock that {@code bench locks} measures. Names are what users say. */
public enum LockKind {
  /** An owner's lock in memory that programs share. */
  memory {
    @Override
    HeldLock open(String target) {
      final RingChannel channel = RingChannelBuilder.forTarget(target).usePlaintext().build();
      final Memory memory = Memory.connect(channel);
      final RemoteLock lock = memory.lock(NAME);
      return new HeldLock(
          work -> {
            final dev.ringfetch.memory.LockHold hold = lock.acquire(WAIT).orElseThrow();
            try {
              work.run();
            } finally {
              hold.close();
            }
          },
          () -> {
            memory.close();
            channel.shutdownNow();
          });
    }
  },

  /** An entry of an index with a time to live. */
  index {
    @Override
    HeldLock open(String target) {
      final IndexClient client = IndexClient.connect(target);
      final IndexLock lock = client.lock(NAME);
      return new HeldLock(
          work -> {
            final dev.ringfetch.index.client.LockHold hold = lock.acquire(WAIT).orElseThrow();
            try {
              work.run();
            } finally {
              hold.close();
            }
          },
          client::close);
    }
  },

  /** A key of Redis that is set if it is not there, tried again at once. */
  redis {
    @Override
    HeldLock open(String target) {
      final LockStore store = LockStore.redis(Path.of(target));
      return new HeldLock(store::hold, store::close);
    }
  },

  /** Curator's mutex, a sequence of nodes in ZooKeeper. */
  curator {
    @Override
    HeldLock open(String target) {
      final CuratorFramework client =
          CuratorFrameworkFactory.newClient(target, new RetryOneTime(RETRY_MILLIS));
      client.start();
      final InterProcessMutex mutex = new InterProcessMutex(client, "/" + NAME);
      return new HeldLock(
          work -> {
            mutex.acquire();
            try {
              work.run();
            } finally {
              mutex.release();
            }
          },
          client::close);
    }
  };

  /** Name of the lock. */
  public static final String NAME = "lock";

  private static final Duration WAIT = Duration.ofSeconds(30);
  private static final int RETRY_MILLIS = 100;

  /**
   * Connects to the lock.
   *
   * @param target address of its server, or path of its socket.
   */
  abstract HeldLock open(String target);
}

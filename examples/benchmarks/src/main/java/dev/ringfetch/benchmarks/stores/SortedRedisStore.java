package dev.ringfetch.benchmarks.stores;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.nio.file.Path;
import java.util.IdentityHashMap;
import java.util.List;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.Response;

/**
 * A Redis server at a Unix socket with an index of its keys, as its manual has it for keys in their
 * order: a sorted set whose members have equal scores. A scan asks the set for a range of keys, and
 * then for their values: two commands, since the second one needs the answer of the first. Each
 * thread has a connection.
 */
final class SortedRedisStore implements Store {
  private static final int BATCH = 256;
  private static final byte[] INDEX = "keys".getBytes(US_ASCII);
  private static final byte[] END = {'+'};

  private final Path socket;
  private final RedisStore entries;

  SortedRedisStore(Path socket) {
    this.socket = socket;
    this.entries = new RedisStore(socket);
  }

  @Override
  public Session open() {
    return new Operations(RedisStore.connect(socket));
  }

  @Override
  public void clear() {
    entries.clear();
  }

  @Override
  public long usedBytes() {
    return entries.usedBytes();
  }

  @Override
  public void close() {
    entries.close();
  }

  private static final class Operations implements Session {
    private static final String OK = "OK";

    private final Jedis jedis;
    private final byte[] key = new byte[Entries.KEY_LENGTH];
    private final byte[] value = new byte[Entries.VALUE_LENGTH];
    private final byte[] from = new byte[1 + Entries.KEY_LENGTH];
    private final ScanCheck check = new ScanCheck();

    Operations(Jedis jedis) {
      this.jedis = jedis;
      from[0] = '[';
    }

    @Override
    public boolean get(long number) {
      Entries.putKey(number, key);
      final byte[] found = jedis.get(key);
      return found != null && Entries.isValue(number, found, 0, found.length);
    }

    @Override
    public int scan(long number, int limit) {
      System.arraycopy(check.begin(number), 0, from, 1, Entries.KEY_LENGTH);
      final byte[][] keys = jedis.zrangeByLex(INDEX, from, END, 0, limit).toArray(new byte[0][]);
      if (keys.length == 0) {
        return 0;
      }
      final List<byte[]> values = jedis.mget(keys);
      if (values.size() != keys.length) {
        return WRONG;
      }
      for (int i = 0; i < keys.length; i++) {
        final byte[] found = values.get(i);
        if (found == null) {
          return WRONG;
        }
        check.take(keys[i], 0, keys[i].length, found, 0, found.length);
      }
      return check.end();
    }

    @Override
    public void put(long number, long stamp) {
      Entries.putKey(number, key);
      Entries.putValue(number, stamp, value);
      final Pipeline pipeline = jedis.pipelined();
      final Response<String> set = pipeline.set(key, value);
      final var unused = pipeline.zadd(INDEX, 0, key);
      pipeline.sync();
      if (!OK.equals(set.get())) {
        throw new IllegalStateException("not written: number=" + number);
      }
    }

    @Override
    public void putAll(long first, long end) {
      for (long from = first; from < end; from += BATCH) {
        final Pipeline pipeline = jedis.pipelined();
        final IdentityHashMap<byte[], Double> members = new IdentityHashMap<>();
        final long next = Math.min(end, from + BATCH);
        for (long number = from; number < next; number++) {
          Entries.putKey(number, key);
          Entries.putValue(number, 0, value);
          final byte[] copy = key.clone();
          final var unused = pipeline.set(copy, value.clone());
          members.put(copy, 0.0);
        }
        final var unused = pipeline.zadd(INDEX, members);
        final List<Object> answers = pipeline.syncAndReturnAll();
        for (int i = 0; i < next - from; i++) {
          if (!OK.equals(answers.get(i))) {
            throw new IllegalStateException("not written: " + answers.get(i));
          }
        }
      }
    }

    @Override
    public void close() {
      jedis.close();
    }
  }
}

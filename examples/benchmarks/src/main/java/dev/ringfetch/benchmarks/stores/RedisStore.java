package dev.ringfetch.benchmarks.stores;

import java.io.IOException;
import java.net.Socket;
import java.nio.file.Path;
import java.util.List;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisSocketFactory;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;

/** A Redis server at a Unix socket, by Jedis: a connection for each thread. */
public final class RedisStore implements Store {
  private static final int BATCH = 256;
  private static final String USED = "used_memory:";

  private final Path socket;

  /** Creates it; each session connects. */
  public RedisStore(Path socket) {
    this.socket = socket;
  }

  /** The arguments of a server at this socket that keeps nothing on a disk. */
  static List<String> serverArguments(Path socket) {
    return List.of(
        "--port", "0", "--unixsocket", socket.toString(), "--save", "", "--appendonly", "no");
  }

  /** Same, with a log of its writes where the socket is. */
  static List<String> serverArguments(Path socket, String appendFsync) {
    return List.of(
        "--port",
        "0",
        "--unixsocket",
        socket.toString(),
        "--save",
        "",
        "--appendonly",
        "yes",
        "--appendfsync",
        appendFsync,
        "--dir",
        socket.getParent().toString());
  }

  /** Reads the entry with a number, from a server that may still read its log. */
  static boolean isAnswered(Path socket, long number) {
    final byte[] key = new byte[Entries.KEY_LENGTH];
    Entries.putKey(number, key);
    try (Jedis jedis = connect(socket)) {
      return jedis.get(key) != null;
    } catch (JedisException e) { // it loads
      return false;
    }
  }

  @Override
  public Session open() {
    return new Operations(connect());
  }

  private Jedis connect() {
    return connect(socket);
  }

  /** Connects to a server. */
  public static Jedis connect(Path socket) {
    final JedisSocketFactory sockets =
        new JedisSocketFactory() {
          @Override
          public Socket createSocket() {
            try {
              return new UnixSocket(socket);
            } catch (IOException e) {
              throw new JedisConnectionException("cannot connect to " + socket, e);
            }
          }
        };
    return new Jedis(
        sockets, DefaultJedisClientConfig.builder().autoNegotiateProtocol(false).build());
  }

  @Override
  public void clear() {
    try (Jedis jedis = connect()) {
      jedis.flushAll();
    }
  }

  @Override
  public long usedBytes() {
    try (Jedis jedis = connect()) {
      return jedis
          .info("memory")
          .lines()
          .filter(line -> line.startsWith(USED))
          .mapToLong(line -> Long.parseLong(line.substring(USED.length()).strip()))
          .findFirst()
          .orElseThrow();
    }
  }

  @Override
  public void close() {}

  private static final class Operations implements Session {
    private static final String OK = "OK";

    private final Jedis jedis;
    private final byte[] key = new byte[Entries.KEY_LENGTH];
    private final byte[] value = new byte[Entries.VALUE_LENGTH];

    Operations(Jedis jedis) {
      this.jedis = jedis;
    }

    @Override
    public boolean get(long number) {
      Entries.putKey(number, key);
      final byte[] found = jedis.get(key);
      return found != null && Entries.isValue(number, found, 0, found.length);
    }

    @Override
    public void put(long number, long stamp) {
      Entries.putKey(number, key);
      Entries.putValue(number, stamp, value);
      if (!OK.equals(jedis.set(key, value))) {
        throw new IllegalStateException("not written: number=" + number);
      }
    }

    @Override
    public void putAll(long first, long end) {
      for (long from = first; from < end; from += BATCH) {
        final Pipeline pipeline = jedis.pipelined();
        for (long number = from; number < Math.min(end, from + BATCH); number++) {
          Entries.putKey(number, key);
          Entries.putValue(number, 0, value);
          pipeline.set(key.clone(), value.clone());
        }
        for (final Object answer : pipeline.syncAndReturnAll()) {
          if (!OK.equals(answer)) {
            throw new IllegalStateException("not written: " + answer);
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

package dev.ringfetch.benchmarks.stores;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.List;

/**
 * A memcached server at a Unix socket, by the lines of its text protocol: a connection for each
 * thread. No client library costs it anything; those that are kept up do not take Unix sockets.
 */
final class MemcachedStore implements Store {
  private static final int BATCH = 256;

  private final Path socket;

  MemcachedStore(Path socket) {
    this.socket = socket;
  }

  /** The arguments of a server at this socket. */
  static List<String> serverArguments(Path socket) {
    return List.of(
        "-s", socket.toString(), "-m", "4096", "-M", "-u", System.getProperty("user.name"));
  }

  @Override
  public Session open() {
    return connect();
  }

  private Connection connect() {
    try {
      return new Connection(socket);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Marks all entries as expired: later ones take their memory. */
  @Override
  public void clear() {
    try (Connection connection = connect()) {
      connection.send("flush_all\r\n");
      connection.expect("OK");
    }
  }

  /** The pages of its slabs, and its hash table. */
  @Override
  public long usedBytes() {
    try (Connection connection = connect()) {
      return connection.statistic("stats slabs\r\n", "STAT total_malloced ")
          + connection.statistic("stats\r\n", "STAT hash_bytes ");
    }
  }

  @Override
  public void close() {}

  private static final class Connection implements Session {
    private static final byte[] GET = "get ".getBytes(US_ASCII);
    private static final byte[] SET = "set ".getBytes(US_ASCII);
    private static final byte[] LENGTHS =
        (" 0 0 " + Entries.VALUE_LENGTH + "\r\n").getBytes(US_ASCII);
    private static final byte[] END_OF_LINE = "\r\n".getBytes(US_ASCII);
    private static final String STORED = "STORED";
    private static final String END = "END";
    private static final int CAPACITY = 64 << 10;

    private final SocketChannel channel;
    private final ByteBuffer out = ByteBuffer.allocateDirect(CAPACITY);
    private final ByteBuffer in = ByteBuffer.allocateDirect(CAPACITY).flip();
    private final byte[] key = new byte[Entries.KEY_LENGTH];
    private final byte[] value = new byte[Entries.VALUE_LENGTH];
    private final byte[] head = new byte["VALUE ".length() + Entries.KEY_LENGTH + " 0 32".length()];

    Connection(Path socket) throws IOException {
      channel = SocketChannel.open(UnixDomainSocketAddress.of(socket));
    }

    @Override
    public boolean get(long number) {
      Entries.putKey(number, key);
      out.clear();
      out.put(GET).put(key).put(END_OF_LINE);
      flush();
      final byte first = read();
      if (first == 'E') { // of the line that ends the answer
        expectRest(END);
        return false;
      }
      read(head, 1);
      expectLineEnd();
      read(value, 0);
      expectLineEnd();
      expect(END);
      return Entries.isValue(number, value, 0, value.length);
    }

    @Override
    public void put(long number, long stamp) {
      out.clear();
      add(number, stamp);
      flush();
      expect(STORED);
    }

    @Override
    public void putAll(long first, long end) {
      for (long from = first; from < end; from += BATCH) {
        final long next = Math.min(end, from + BATCH);
        out.clear();
        for (long number = from; number < next; number++) {
          add(number, 0);
        }
        flush();
        for (long number = from; number < next; number++) {
          expect(STORED);
        }
      }
    }

    private void add(long number, long stamp) {
      Entries.putKey(number, key);
      Entries.putValue(number, stamp, value);
      out.put(SET).put(key).put(LENGTHS).put(value).put(END_OF_LINE);
    }

    void send(String text) {
      out.clear();
      out.put(text.getBytes(US_ASCII));
      flush();
    }

    long statistic(String command, String name) {
      send(command);
      long found = -1;
      String line = line();
      while (!line.equals(END)) {
        if (line.startsWith(name)) {
          found = Long.parseLong(line.substring(name.length()));
        }
        line = line();
      }
      if (found < 0) {
        throw new IllegalStateException("memcached does not say: " + name);
      }
      return found;
    }

    private String line() {
      final StringBuilder line = new StringBuilder();
      byte next = read();
      while (next != '\r') {
        line.append((char) next);
        next = read();
      }
      if (read() != '\n') {
        throw new IllegalStateException("not a line: " + line);
      }
      return line.toString();
    }

    /** Reads a line, which has to be this one. */
    void expect(String line) {
      if (read() != line.charAt(0)) {
        throw new IllegalStateException("not " + line + ": " + line());
      }
      expectRest(line);
    }

    private void expectRest(String line) {
      for (int i = 1; i < line.length(); i++) {
        if (read() != line.charAt(i)) {
          throw new IllegalStateException("not " + line + ": " + line());
        }
      }
      expectLineEnd();
    }

    private void expectLineEnd() {
      if (read() != '\r' || read() != '\n') {
        throw new IllegalStateException("no end of a line");
      }
    }

    private void read(byte[] bytes, int from) {
      for (int i = from; i < bytes.length; i++) {
        bytes[i] = read();
      }
    }

    private byte read() {
      if (!in.hasRemaining()) {
        fill();
      }
      return in.get();
    }

    private void fill() {
      in.clear();
      try {
        if (channel.read(in) < 0) {
          throw new IllegalStateException("memcached has ended");
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      in.flip();
    }

    private void flush() {
      out.flip();
      try {
        while (out.hasRemaining()) {
          final int unused = channel.write(out);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public void close() {
      try {
        channel.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}

package dev.ringfetch.benchmarks.stores;

import dev.ringfetch.index.direct.DirectContext;
import dev.ringfetch.index.direct.DirectReader;
import dev.ringfetch.index.direct.DirectValue;
import io.grpc.Channel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The memory of an index, read by a {@link DirectReader} of each thread. It writes nothing. */
final class DirectStore implements Store {
  private final Channel channel;
  private final DirectContext context = new DirectContext();
  private final List<DirectReader> readers = new ArrayList<>();

  /**
   * Creates it.
   *
   * @param shmDirectory where shared memory is, or null for the usual place.
   */
  DirectStore(Channel channel, Path shmDirectory) {
    this.channel = channel;
    if (shmDirectory != null) {
      context.shmDirectory(shmDirectory);
    }
  }

  @Override
  public Session open() {
    final DirectReader reader = DirectReader.open(channel, "", context);
    readers.add(reader);
    return new Reads(reader);
  }

  @Override
  public void clear() {
    throw new UnsupportedOperationException("readers do not clear");
  }

  @Override
  public long usedBytes() {
    throw new UnsupportedOperationException("readers do not know");
  }

  @Override
  public String obstacle() {
    for (final DirectReader reader : readers) {
      if (reader.callReads() > 0) {
        return "reads by calls: "
            + reader.callReads()
            + (reader.isDirect() ? ", and direct ones since" : ", as " + reader.obstacle());
      }
    }
    return "";
  }

  @Override
  public void close() {}

  private static final class Reads implements Session {
    private final DirectReader reader;
    private final DirectValue found = new DirectValue();
    private final byte[] keyBytes = new byte[Entries.KEY_LENGTH];

    Reads(DirectReader reader) {
      this.reader = reader;
    }

    @Override
    public boolean get(long number) {
      return reader.get(Entries.key(number, keyBytes), found)
          && Entries.isValue(number, found.array(), found.offset(), found.length());
    }

    @Override
    public void put(long number, long stamp) {
      throw new UnsupportedOperationException("readers do not write");
    }

    @Override
    public void putAll(long first, long end) {
      throw new UnsupportedOperationException("readers do not write");
    }

    @Override
    public void close() {
      reader.close();
    }
  }
}

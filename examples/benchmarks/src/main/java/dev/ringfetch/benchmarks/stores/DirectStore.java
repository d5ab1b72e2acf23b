package dev.ringfetch.benchmarks.stores;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.IndexClient;
import dev.ringfetch.index.direct.DirectContext;
import dev.ringfetch.index.direct.DirectEntry;
import dev.ringfetch.index.direct.DirectReader;
import dev.ringfetch.index.direct.DirectScan;
import dev.ringfetch.index.direct.DirectValue;
import dev.ringfetch.index.v1.KeyRange;
import dev.ringfetch.index.v1.ScanRequest;
import io.grpc.Channel;
import io.grpc.ManagedChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The memory of an index, read by a {@link DirectReader} of each thread. Writes are calls, as those
 * of any client.
 */
final class DirectStore implements Store {
  private final Channel channel;
  private final String index;
  private final DirectContext context = new DirectContext();
  private final List<DirectReader> readers = new ArrayList<>();
  private ManagedChannel owned; // null: the channel is the caller's

  private DirectStore(Channel channel, String index, Path shmDirectory) {
    this.channel = channel;
    this.index = index;
    if (shmDirectory != null) {
      context.shmDirectory(shmDirectory);
    }
  }

  /**
   * The index that the server has from the start.
   *
   * @param shmDirectory where shared memory is, or null for the usual place.
   */
  static DirectStore hash(Channel channel, Path shmDirectory) {
    return new DirectStore(channel, "", shmDirectory);
  }

  /** Same, of the ordered index. */
  static DirectStore ordered(Channel channel, Path shmDirectory) {
    return new DirectStore(channel, StubStore.ORDERED, shmDirectory);
  }

  /** The index of nodes, with commas between their addresses. */
  static DirectStore nodes(String target) {
    final ManagedChannel channel = IndexClient.builder().target(target).buildChannel();
    final DirectStore store = new DirectStore(channel, StoreClient.INDEX, null);
    store.owned = channel;
    return store;
  }

  @Override
  public Session open() {
    final DirectReader reader = DirectReader.open(channel, index, context);
    readers.add(reader);
    return new Reads(reader, new StubStore.Calls(channel, index));
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
      if (reader.callReads() + reader.scanCalls() > 0) {
        return "reads by calls: "
            + (reader.callReads() + reader.scanCalls())
            + (reader.isDirect() ? ", and direct ones since" : ", as " + reader.obstacle());
      }
    }
    return "";
  }

  @Override
  public void close() {
    if (owned != null) {
      owned.shutdownNow();
    }
  }

  private static final class Reads implements Session {
    private final DirectReader reader;
    private final Session calls;
    private final DirectValue found = new DirectValue();
    private final byte[] keyBytes = new byte[Entries.KEY_LENGTH];

    private final ScanCheck check = new ScanCheck();

    Reads(DirectReader reader, Session calls) {
      this.reader = reader;
      this.calls = calls;
    }

    @Override
    public boolean get(long number) {
      return reader.get(Entries.key(number, keyBytes), found)
          && Entries.isValue(number, found.array(), found.offset(), found.length());
    }

    @Override
    public int scan(long number, int limit) {
      final KeyRange.Builder range =
          KeyRange.newBuilder().setStart(ByteString.copyFrom(check.begin(number)));
      final DirectScan scan =
          new DirectScan(ScanRequest.newBuilder().setRange(range).setLimit(limit).build());
      final boolean unused = reader.scan(scan, this::take);
      return check.end();
    }

    private boolean take(DirectEntry entry) {
      check.take(
          entry.array(),
          entry.keyOffset(),
          entry.keyLength(),
          entry.array(),
          entry.valueOffset(),
          entry.valueLength());
      return true;
    }

    @Override
    public void put(long number, long stamp) {
      calls.put(number, stamp);
    }

    @Override
    public void putAll(long first, long end) {
      calls.putAll(first, end);
    }

    @Override
    public void close() {
      calls.close();
      reader.close();
    }
  }
}

package dev.ringfetch.benchmarks.stores;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import net.openhft.chronicle.map.ChronicleMap;
import net.openhft.chronicle.map.ChronicleMapBuilder;

/** A Chronicle Map in a file that several processes map, with room for exactly the entries. */
final class ChronicleStore implements Store {
  /**
   * What it needs of the JVM, by its manual; and the properties that switch its reports over the
   * network off.
   */
  static final List<String> FLAGS =
      List.of(
          "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
          "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
          "--add-exports=jdk.unsupported/sun.misc=ALL-UNNAMED",
          "--add-exports=jdk.compiler/com.sun.tools.javac.file=ALL-UNNAMED",
          "--add-opens=jdk.compiler/com.sun.tools.javac=ALL-UNNAMED",
          "--add-opens=java.base/java.lang=ALL-UNNAMED",
          "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED",
          "--add-opens=java.base/java.io=ALL-UNNAMED",
          "--add-opens=java.base/java.nio=ALL-UNNAMED",
          "--add-opens=java.base/java.util=ALL-UNNAMED",
          "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
          "-Dchronicle.analytics.disable=true",
          "-Dchronicle.announcer.disable=true",
          "-Ddisable.thread.safety=true");

  private final Path file;
  private final ChronicleMap<byte[], byte[]> map;

  ChronicleStore(Path file, int entries) throws IOException {
    this.file = file;
    this.map =
        ChronicleMapBuilder.of(byte[].class, byte[].class)
            .name("bench")
            .entries(entries)
            .constantKeySizeBySample(new byte[Entries.KEY_LENGTH])
            .constantValueSizeBySample(new byte[Entries.VALUE_LENGTH])
            .putReturnsNull(true)
            .createPersistedTo(file.toFile());
  }

  @Override
  public Session open() {
    return new Operations(map);
  }

  @Override
  public void clear() {
    map.clear();
  }

  @Override
  public long usedBytes() {
    return DiskUse.of(file);
  }

  @Override
  public void close() {
    map.close();
  }

  private static final class Operations implements Session {
    private final ChronicleMap<byte[], byte[]> map;
    private final byte[] key = new byte[Entries.KEY_LENGTH];
    private final byte[] value = new byte[Entries.VALUE_LENGTH];

    Operations(ChronicleMap<byte[], byte[]> map) {
      this.map = map;
    }

    @Override
    public boolean get(long number) {
      Entries.putKey(number, key);
      final byte[] found = map.getUsing(key, value);
      return found != null && Entries.isValue(number, found, 0, found.length);
    }

    @Override
    public void put(long number, long stamp) {
      Entries.putKey(number, key);
      Entries.putValue(number, stamp, value);
      map.put(key, value);
    }

    @Override
    public void putAll(long first, long end) {
      for (long number = first; number < end; number++) {
        put(number, 0);
      }
    }
  }
}

package dev.ringfetch.index.service;

import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProviders;
import dev.ringfetch.fabric.Obstacle;
import dev.ringfetch.index.data.Claim;
import dev.ringfetch.index.data.DataDirectory;
import dev.ringfetch.index.host.ServerTime;
import dev.ringfetch.index.journal.DiskQuota;
import dev.ringfetch.index.journal.JournalContext;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.IndexKind;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/** The options of {@link IndexMemory}. Setters return this. Used by one thread. */
public final class IndexMemoryContext {
  /** The most bytes of index memory unless set; where the host or the container has less, fewer. */
  public static final long BUDGET_DEFAULT = HostMemory.BUDGET_DEFAULT;

  /** The fewest bytes of index memory: room for the default index and a few longest entries. */
  public static final long BUDGET_MIN = HostMemory.BUDGET_MIN;

  /** Partitions of a hash index unless set. */
  public static final int PARTITIONS_DEFAULT = 16;

  /** Partitions of a spatial index unless set: each search visits all of them. */
  public static final int SPATIAL_PARTITIONS_DEFAULT = 4;

  /** The most partitions of an index. */
  public static final int PARTITIONS_MAX = 256;

  /** How long a write waits at most for its sync with {@link Durability#INTERVAL}, unless set. */
  public static final Duration SYNC_INTERVAL_DEFAULT = JournalContext.INTERVAL_DEFAULT;

  /** The fewest bytes of journal between two snapshots. */
  public static final long SNAPSHOT_AFTER_MIN = 1L << 20;

  /** The smallest quota of a data directory. */
  public static final long DISK_QUOTA_MIN = DiskQuota.MIN;

  /** Names of the fabrics over which clients read memory unless set, the preferred one first. */
  public static final List<String> FABRICS_DEFAULT =
      List.of(FabricProviders.SHM, FabricProviders.VERBS);

  private static final Logger LOGGER = System.getLogger(IndexMemoryContext.class.getName());

  HostMemory host = new HostMemory();
  long budget; // 0: as the host has it
  private int partitions; // 0: as the kind has
  List<String> fabrics = FABRICS_DEFAULT;
  boolean named; // whether the application has named the fabrics
  boolean fallback;
  final FabricContext fabricContext = new FabricContext();
  Path dataDirectory;
  boolean takeover;
  boolean adoptCopy;
  Durability durability = Durability.MEMORY;
  Duration syncInterval = SYNC_INTERVAL_DEFAULT;
  long snapshotAfter;
  long diskQuota; // 0: none
  JournalMetrics journalMetrics = JournalMetrics.NONE;
  Runnable onWritingEnded = () -> {};
  RecoveryListener progress = (bytes, total, records) -> {};
  @Nullable ServerTime time; // null: that of the system

  /** Is told how far the recovery of a journal has come, on the thread that opens the memory. */
  @FunctionalInterface
  public interface RecoveryListener {
    /**
     * Called about once for each MiB.
     *
     * @param bytes of snapshot and journal that were read
     * @param total bytes that are to be read at most
     * @param records that were carried out
     */
    void onProgress(long bytes, long total, long records);
  }

  /** Creates the defaults, without a data directory. */
  public IndexMemoryContext() {}

  /**
   * Sets the most bytes, at least {@link #BUDGET_MIN}. Unless set they are {@link #BUDGET_DEFAULT},
   * or fewer where the host, its container or the file system of shared memory has room for fewer.
   */
  public IndexMemoryContext budget(long bytes) {
    if (bytes < BUDGET_MIN) {
      throw new IllegalArgumentException(
          "memory is too small: " + bytes + " < " + BUDGET_MIN + " bytes");
    }
    this.budget = bytes;
    return this;
  }

  /** Sets the memory that there is, which limits the growth; that of this process unless set. */
  public IndexMemoryContext host(HostMemory memory) {
    this.host = memory;
    return this;
  }

  /**
   * Sets the partitions of each hash or spatial index, a power of two up to {@link
   * #PARTITIONS_MAX}.
   */
  public IndexMemoryContext partitions(int count) {
    if (Integer.bitCount(count) != 1 || count < 1 || count > PARTITIONS_MAX) {
      throw new IllegalArgumentException(
          "partitions is no power of two from 1 to " + PARTITIONS_MAX + ": " + count);
    }
    this.partitions = count;
    return this;
  }

  /** Partitions of a new index, by its kind. */
  ToIntFunction<IndexKind> partitions() {
    final int hash = partitions == 0 ? PARTITIONS_DEFAULT : partitions;
    final int spatial = partitions == 0 ? SPATIAL_PARTITIONS_DEFAULT : partitions;
    return kind -> kind == IndexKind.HASH ? hash : kind == IndexKind.SPATIAL ? spatial : 1;
  }

  /**
   * Sets the names of the fabrics over which clients read {@linkplain IndexMemory#shared shared}
   * memory, the preferred one first; {@link #FABRICS_DEFAULT} unless set. The first that can be
   * used makes the memory, and {@code shm} shows no memory but its own, so it stands first.
   *
   * @throws IllegalArgumentException when a name is blank, or given twice.
   */
  public IndexMemoryContext fabrics(String... names) {
    final Set<String> seen = new HashSet<>();
    for (final String name : names) {
      if (name.isBlank() || !seen.add(name)) {
        throw new IllegalArgumentException("blank or named twice: fabric=\"" + name + "\"");
      }
    }
    this.fabrics = List.of(names);
    this.named = true;
    return this;
  }

  /**
   * Sets the directory of the shared-memory fabric, the same as the server's and the clients';
   * {@code /dev/shm} unless set here or by the system property {@value
   * FabricContext#DIRECTORY_PROP_NAME}.
   */
  public IndexMemoryContext shmDirectory(Path directory) {
    fabricContext.directory(directory);
    return this;
  }

  /**
   * Sets whether a server whose fabrics cannot be used serves from memory of its process alone,
   * with a warning in the log. Unless set it does not: {@link IndexMemory#shared} throws.
   */
  public IndexMemoryContext fallback(boolean toProcess) {
    this.fallback = toProcess;
    return this;
  }

  /**
   * Sets the data directory, created where it is missing; null for none, as unless set. One server
   * at a time owns it. It has the gate, by which a server takes over from a killed one: until then
   * clients go on to read the memory of the killed server. It has the journal, too, of indexes
   * whose {@link #durability} needs one. Without a data directory, the gate ends with the process.
   */
  public IndexMemoryContext dataDirectory(Path directory) {
    this.dataDirectory = directory;
    return this;
  }

  /**
   * Sets whether a data directory may be taken that was served last on another host, before this
   * host rebooted, or on another mount of its file system, or whose lock was deleted. The caller
   * knows that no process serves or reads it.
   */
  public IndexMemoryContext takeover(boolean taken) {
    this.takeover = taken;
    return this;
  }

  /**
   * Sets whether the data directory is a copy, or an older state, of one that was served since. Its
   * indexes get new incarnations at each start with it: watches do not go on with the original's
   * tokens.
   */
  public IndexMemoryContext adoptCopy(boolean adopted) {
    this.adoptCopy = adopted;
    return this;
  }

  /**
   * Sets what an answered write survives, of an index that is created without saying so; {@link
   * Durability#MEMORY} unless set. Others need a data directory.
   */
  public IndexMemoryContext durability(Durability level) {
    if (level == Durability.DURABILITY_UNSPECIFIED || level == Durability.UNRECOGNIZED) {
      throw new IllegalArgumentException("durability=" + level);
    }
    this.durability = level;
    return this;
  }

  /**
   * Sets how long a write may wait for its sync to begin, in an index of {@link
   * Durability#INTERVAL}; {@link #SYNC_INTERVAL_DEFAULT} unless set.
   *
   * @throws IllegalArgumentException unless it is from 1 ms to 1 min.
   */
  public IndexMemoryContext syncInterval(Duration interval) {
    if (interval.toMillis() < 1 || interval.compareTo(Duration.ofMinutes(1)) > 0) {
      throw new IllegalArgumentException("sync-interval is not from 1 ms to 1 min: " + interval);
    }
    this.syncInterval = interval;
    return this;
  }

  /**
   * Sets the bytes of journal after which a snapshot is taken, so that the journal before it can be
   * removed. Unless set, these are 256 MiB, or twice the length of the last snapshot if that is
   * more.
   *
   * @throws IllegalArgumentException if they are fewer than {@link #SNAPSHOT_AFTER_MIN}.
   */
  public IndexMemoryContext snapshotAfter(long bytes) {
    if (bytes < SNAPSHOT_AFTER_MIN) {
      throw new IllegalArgumentException(
          "snapshot-after is too small: " + bytes + " < " + SNAPSHOT_AFTER_MIN + " bytes");
    }
    this.snapshotAfter = bytes;
    return this;
  }

  /**
   * Sets the bytes of the data directory beyond which calls that add entries are refused; there is
   * no such limit unless set.
   *
   * @throws IllegalArgumentException if they are fewer than {@link #DISK_QUOTA_MIN}.
   */
  public IndexMemoryContext diskQuota(long bytes) {
    if (bytes < DISK_QUOTA_MIN) {
      throw new IllegalArgumentException(
          "disk-quota is too small: " + bytes + " < " + DISK_QUOTA_MIN + " bytes");
    }
    this.diskQuota = bytes;
    return this;
  }

  /** Sets what is told how far the recovery has come, on the thread that opens the memory. */
  public IndexMemoryContext progress(RecoveryListener told) {
    this.progress = told;
    return this;
  }

  /** Sets what is told what the journal measures. */
  public IndexMemoryContext journalMetrics(JournalMetrics metrics) {
    this.journalMetrics = metrics;
    return this;
  }

  /**
   * Sets what is run when the disk has failed, and indexes that are kept on it take no writes any
   * more until another server starts. Run once, on the journal's thread; reads go on.
   */
  public IndexMemoryContext onWritingEnded(Runnable ended) {
    this.onWritingEnded = ended;
    return this;
  }

  /** Sets the time by which entries end, which the memory closes; that of the system unless set. */
  IndexMemoryContext time(ServerTime source) {
    this.time = source;
    return this;
  }

  /** Opens the fabrics that can be used; the caller closes them. */
  List<Fabric> openFabrics() throws IOException {
    final List<Fabric> opened = new ArrayList<>();
    final Map<String, String> obstacles = new LinkedHashMap<>(); // by the fabric's name
    for (final String name : fabrics) {
      try {
        opened.add(FabricProviders.open(name, fabricContext));
      } catch (IOException e) {
        obstacles.put(name, Obstacle.of(e));
      }
    }
    if (opened.isEmpty() && !fallback) {
      throw new IOException(
          "no fabric for index memory: fabrics=" + fabrics + " obstacles=" + obstacles);
    }
    obstacles.forEach(
        (name, obstacle) ->
            LOGGER.log(
                named || name.equals(fabrics.get(0)) ? Level.WARNING : Level.DEBUG,
                "no direct reads over " + name + ": " + obstacle));
    return opened;
  }

  private Claim claim() {
    return adoptCopy ? Claim.COPY : takeover ? Claim.TAKEOVER : Claim.NONE;
  }

  /** Opens the data directory, which the caller closes. Returns null where there is none. */
  @Nullable DataDirectory openData() throws IOException {
    try {
      return dataDirectory == null ? null : DataDirectory.open(dataDirectory, claim());
    } catch (FileSystemException e) { // whose message may be a path alone
      throw new IOException(
          "cannot open the data directory: data="
              + dataDirectory
              + ": "
              + e.getClass().getSimpleName()
              + ": "
              + e.getMessage(),
          e);
    }
  }
}

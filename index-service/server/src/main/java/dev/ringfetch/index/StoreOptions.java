package dev.ringfetch.index;

import dev.ringfetch.index.service.IndexMemoryContext;
import dev.ringfetch.index.v1.Durability;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options of the memory and the data directory in which a server keeps its indexes. */
final class StoreOptions {
  @Option(
      names = "--memory",
      paramLabel = "BYTES",
      converter = ByteCount.class,
      description = "Limit of index memory. Default: 1G or what fits.")
  private @Nullable Long memory;

  @Option(
      names = "--partitions",
      paramLabel = "N",
      description =
          "Of an index, a power of two. Default: "
              + IndexMemoryContext.PARTITIONS_DEFAULT
              + ", spatial "
              + IndexMemoryContext.SPATIAL_PARTITIONS_DEFAULT
              + ".")
  private @Nullable Integer partitions;

  @Option(
      names = "--data",
      paramLabel = "PATH",
      description = "Directory of journal and gate, for a successor too.")
  private @Nullable Path data;

  @Option(
      names = "--durability",
      paramLabel = "LEVEL",
      defaultValue = "memory",
      converter = DurabilityLevel.class,
      description = "Of an index: memory, interval, disk, leader-disk.")
  private Durability durability;

  @Option(
      names = "--sync-interval",
      paramLabel = "MILLIS",
      defaultValue = "10",
      description = "Longest wait, if interval. Default: 10.")
  private long syncIntervalMillis;

  @Option(
      names = "--snapshot-after",
      paramLabel = "BYTES",
      converter = ByteCount.class,
      description = "Journal between snapshots. Default: 256M or more.")
  private @Nullable Long snapshotAfter;

  @Option(
      names = "--disk-quota",
      paramLabel = "BYTES",
      converter = ByteCount.class,
      description = "Of --data; beyond, puts are refused. Default: none.")
  private @Nullable Long diskQuota;

  @Option(
      names = "--takeover",
      fallbackValue = "true",
      description = "Use --data of another host, or of another boot.")
  private boolean takeover;

  @Option(
      names = "--adopt-copy",
      fallbackValue = "true",
      description = "Use a copy as --data; its indexes count as new.")
  private boolean adoptCopy;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  /** The data directory; null if there is none. */
  @Nullable Path data() {
    return data;
  }

  /** Whether the data directory may be a copy. */
  boolean adoptsCopy() {
    return adoptCopy;
  }

  /** The line that says where and how indexes are kept. */
  String line() {
    return DurabilityLevel.line(data, durability);
  }

  /** Sets the options. */
  void apply(IndexMemoryContext context) {
    try {
      context
          .dataDirectory(data)
          .takeover(takeover)
          .adoptCopy(adoptCopy)
          .durability(durability)
          .syncInterval(Duration.ofMillis(syncIntervalMillis));
      if (partitions != null) {
        context.partitions(partitions);
      }
      if (memory != null) {
        context.budget(memory);
      }
      if (snapshotAfter != null) {
        context.snapshotAfter(snapshotAfter);
      }
      if (diskQuota != null) {
        context.diskQuota(diskQuota);
      }
    } catch (IllegalArgumentException e) {
      throw misuse("--" + e.getMessage());
    }
    if (durability != Durability.MEMORY && data == null) {
      throw misuse("--durability " + durability + " needs --data PATH");
    }
    if (diskQuota != null && data == null) {
      throw misuse("--disk-quota needs --data PATH");
    }
  }

  private ParameterException misuse(String text) {
    return new ParameterException(spec.commandLine(), text);
  }
}

package dev.ringfetch.index.service;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.data.DataDirectory;
import dev.ringfetch.index.data.OfflineDirectory;
import dev.ringfetch.index.disk.HostDisk;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.JournalSalvage;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.journal.RecordSink;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.IndexKind;
import io.grpc.StatusException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/**
 * The salvage of a data directory on which no server starts any more: finds what whole records
 * there are, and writes their entries to a new directory, on which a server starts.
 *
 * <p>What it finds is the newest that is left of each key, not a state that ever was: a record that
 * is lost may have removed or replaced an entry. Entries have new versions, and indexes new
 * incarnations. All entries are in the memory of the process (heap) meanwhile.
 *
 * <p>Used by one thread, once.
 */
public final class Salvage {
  private static final int WRITES = 1024;

  private final Map<Long, Content> contents = new TreeMap<>();
  private final Set<Long> dropped = new HashSet<>();
  private final Set<String> names = new HashSet<>();

  /** The latest time that any partition's clock has shown. */
  private long clock;

  private long ended;
  private boolean isOfCluster;
  private final List<String> report = new ArrayList<>();
  private long entries;

  private static final class Content {
    CatalogEntry entry; // null: its creation is lost
    final Map<ByteString, Newest> newest = new HashMap<>();
  }

  /** The newest record of a key; its value is null if that removes the entry. */
  private record Newest(long lsn, ByteString value, long deadline) {}

  private Salvage() {}

  /**
   * Salvages.
   *
   * @param damaged directory, which is not changed
   * @param target directory that is not there yet, or is empty
   * @param budget bytes of index memory for the new directory's indexes
   * @return what was done and what is missing, in lines for people
   * @throws IOException if a server uses the damaged directory, the target is not empty, or either
   *     cannot be read or written
   */
  public static List<String> run(Path damaged, Path target, long budget) throws IOException {
    DataDirectory.checkVacant(target);
    final Salvage salvage = new Salvage();
    try (OfflineDirectory directory = OfflineDirectory.open(damaged)) {
      salvage.report.addAll(directory.faults());
      salvage.read(HostDisk.readOnly(directory.path()));
    }
    if (salvage.isOfCluster) { // it cannot tell what was committed, and what was cut
      throw new IOException(
          "of a node of a cluster, whose other nodes have what it had: start it on an empty"
              + " directory, and it gets all from them. If this is the last one, 'dump' writes its"
              + " entries as long as 'verify' finds no damage: data="
              + damaged);
    }
    salvage.write(target, budget);
    return List.copyOf(salvage.report);
  }

  private void read(HostDisk disk) throws IOException {
    final JournalSalvage journal =
        new JournalSalvage(
            disk,
            new RecordSink() {
              @Override
              public void onRecord(JournalRecord record, Supplier<String> place) {
                take(record);
              }
            });
    journal.run();
    report.addAll(journal.gaps());
    report.add("found records=" + journal.records() + " data=" + disk);
  }

  private void take(JournalRecord record) {
    switch (record.type()) {
      case RecordDescriptor.CREATE_INDEX -> {
        final IndexDefinition definition = IndexDefinition.decoded(record.value());
        if (definition != null) {
          content(record.index()).entry =
              new CatalogEntry(record.index(), record.key().toStringUtf8(), definition);
        }
      }
      case RecordDescriptor.DROP_INDEX -> {
        dropped.add(record.index());
        contents.remove(record.index());
      }
      case RecordDescriptor.PARTITION, RecordDescriptor.TICK ->
          clock = Math.max(clock, record.number());
      case RecordDescriptor.PUT -> newest(record, record.value());
      case RecordDescriptor.DELETE -> newest(record, null);
      default -> isOfCluster |= RecordDescriptor.isOfGroup(record.type()); // else of no entry
    }
  }

  private Content content(long index) {
    return contents.computeIfAbsent(index, number -> new Content());
  }

  private void newest(JournalRecord record, ByteString value) {
    if (!dropped.contains(record.index())) {
      content(record.index())
          .newest
          .merge(
              record.key(),
              new Newest(record.lsn(), value, record.deadline()),
              (before, now) -> now.lsn >= before.lsn ? now : before);
    }
  }

  private void write(Path target, long budget) throws IOException {
    final long nowMs = Math.max(clock, System.currentTimeMillis()); // the host's may be behind
    final IndexMemory memory =
        IndexMemory.ofProcess(
            new IndexMemory.Context()
                .budget(budget)
                .dataDirectory(target)
                .time(new ServerTime(() -> nowMs, () -> 0))); // stands: deadlines stay as they are
    try (Indexes indexes = Indexes.unserved(memory)) {
      for (final Map.Entry<Long, Content> content : contents.entrySet()) {
        write(indexes, content.getKey(), content.getValue(), nowMs);
      }
      indexes.serve(); // as a server does, whose end leaves a directory that is sound
    }
    if (ended > 0) {
      report.add("left out, as their deadlines have come: entries=" + ended);
    }
    report.add("wrote entries=" + entries + " data=" + target);
  }

  private void write(Indexes indexes, long number, Content content, long nowMs) throws IOException {
    final boolean isKnown = content.entry != null;
    String name = isKnown ? content.entry.name() : "salvaged-" + number;
    final IndexKind kind = isKnown ? content.entry.definition().kind() : IndexKind.ORDERED;
    final Durability durability =
        isKnown ? content.entry.definition().durability() : Durability.DISK;
    if (!isKnown) {
      report.add("the creation of an index is lost, so its name and kind: index=" + name);
    }
    if (!names.add(name)) { // its removal is lost, or that of the one before
      report.add("a name of two indexes, of which one was dropped: index=" + name);
      name += "-" + number;
      names.add(name);
    }
    final long before = entries;
    try {
      if (name.equals(Indexes.DEFAULT_NAME)) {
        indexes.drop(name, index -> {}); // the one that is there from the start
      }
      final ServedIndex index = indexes.create(name, kind, durability).index();
      write(index, content, nowMs);
    } catch (StatusException e) {
      throw new IOException("index=" + name + ": " + e.getStatus().getDescription(), e);
    }
    report.add(
        "index="
            + name
            + " kind="
            + kind
            + " durability="
            + durability
            + " entries="
            + (entries - before));
  }

  private void write(ServedIndex index, Content content, long nowMs) throws IOException {
    final Semaphore free = new Semaphore(WRITES);
    final AtomicReference<Write> failed = new AtomicReference<>();
    for (final Map.Entry<ByteString, Newest> each : content.newest.entrySet()) {
      final Newest newest = each.getValue();
      if (newest.value == null) {
        continue;
      }
      if (newest.deadline != 0 && newest.deadline <= nowMs) {
        ended++;
        continue;
      }
      free.acquireUninterruptibly();
      final Write write =
          new Write(
                  answered -> {
                    if (answered.outcome() != Write.DONE) {
                      failed.compareAndSet(null, answered);
                    }
                    free.release();
                  })
              .put(each.getKey(), newest.value)
              .ttl(newest.deadline == 0 ? 0 : newest.deadline - nowMs);
      if (index.partition(each.getKey()).submit(write) != 0) { // no more than WRITES are there
        throw new IllegalStateException("queue full: index=" + index.name());
      }
      entries++;
    }
    free.acquireUninterruptibly(WRITES);
    if (failed.get() != null) {
      throw new IOException(
          "cannot write: index=" + index.name() + " outcome=" + failed.get().outcome());
    }
  }
}

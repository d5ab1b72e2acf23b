package dev.ringfetch.index.service;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.data.DataDirectory;
import dev.ringfetch.index.data.OfflineDirectory;
import dev.ringfetch.index.disk.HostDisk;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.host.ServerTime;
import dev.ringfetch.index.journal.CatalogEntry;
import dev.ringfetch.index.journal.Journal;
import dev.ringfetch.index.journal.JournalSalvage;
import dev.ringfetch.index.node.IndexCatalog;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.replay.MemoryTooSmallException;
import dev.ringfetch.index.replay.RecoveredIndex;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.IndexKind;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * The salvage of a data directory: writes the entries that are there to a new directory, on which a
 * server starts, and says what is missing.
 *
 * <p>It first reads the directory as a start does. If a start would find nothing wrong, the new
 * directory has all entries. Else it finds each record that is whole, and the new directory has the
 * newest that is there of each key, which need not be a state that ever was: a record that is
 * missing may have removed or replaced an entry. Entries have new versions, and indexes new
 * incarnations. All entries are in the memory of the process (heap) meanwhile.
 *
 * <p>Used by one thread, once.
 */
public final class Salvage {
  private static final int WRITES = 1024;

  private final Set<String> names = new HashSet<>();
  private final List<String> report = new ArrayList<>();

  /** The result; null before the salvage. */
  private SalvagedIndexes found;

  private boolean isComplete;
  private long ended;
  private long entries;

  /**
   * The result of a salvage.
   *
   * @param isComplete whether it is certain that no entry is missing
   * @param lines what was done and what is missing, for people
   */
  public record Report(boolean isComplete, List<String> lines) {}

  private Salvage() {}

  /**
   * Salvages.
   *
   * @param damaged directory, which is not changed
   * @param target directory that is not there yet, or is empty
   * @param budget bytes of index memory for the new directory's indexes
   * @throws IOException if a server uses the damaged directory, nothing is left in it, the target
   *     is not empty, or either cannot be read or written
   */
  public static Report run(Path damaged, Path target, long budget) throws IOException {
    DataDirectory.checkVacant(target);
    final Salvage salvage = new Salvage();
    try (OfflineDirectory directory = OfflineDirectory.open(damaged)) {
      salvage.report.addAll(directory.faults());
      if (!salvage.readAsAStart(directory, budget)) {
        salvage.search(directory);
      }
    }
    salvage.write(target, budget);
    return new Report(salvage.isComplete, List.copyOf(salvage.report));
  }

  /** Reads the directory if a start would; returns false if a start finds something wrong. */
  private boolean readAsAStart(OfflineDirectory directory, long budget) throws IOException {
    final HostDisk disk = HostDisk.readOnly(directory.path());
    if (!Journal.isIn(disk)) {
      report.add("missing: the journal: data=" + disk);
      return false;
    }
    final IndexMemory memory = IndexMemory.ofProcess(budget);
    try {
      final OfflineIndexes sound = new OfflineIndexes(directory, memory);
      report.addAll(sound.faults());
      if (!sound.isWhole()) {
        return false;
      }
      report.addAll(sound.notes());
      if (sound.unfinishedBytes() > 0) {
        report.add(
            "unfinished writes at its end, or damage of the last ones: bytes="
                + sound.unfinishedBytes());
      }
      found = new SalvagedIndexes();
      for (final RecoveredIndex index : sound.indexes()) {
        OfflineIndexes.walk(index, found.add(index.entry()));
      }
      isComplete = sound.isEndKnown();
      report.add("read records=" + sound.records() + " data=" + disk);
      return true;
    } catch (IOException e) {
      if (MemoryTooSmallException.isIn(e)) {
        throw e;
      }
      report.add("no server starts on it: " + e.getMessage());
      return false;
    } finally {
      memory.close();
    }
  }

  /** Searches all files for records. */
  private void search(OfflineDirectory directory) throws IOException {
    final HostDisk disk = HostDisk.readOnly(directory.path());
    if (!directory.isAlone()) {
      report.add("of a node of a cluster: writes that it has discarded may be there again");
    }
    found = new SalvagedIndexes();
    final JournalSalvage journal =
        new JournalSalvage(disk, directory.origin(), found, found::onPartialRecord);
    journal.run();
    if (journal.records() == 0) {
      throw new IOException(
          "no record is left: data=" + disk + ": " + String.join("; ", journal.gaps()));
    }
    report.addAll(journal.gaps());
    report.addAll(found.missing());
    report.add("found records=" + journal.records() + " data=" + disk);
  }

  private void write(Path target, long budget) throws IOException {
    final long nowMs = Math.max(found.clock(), System.currentTimeMillis()); // the host's may lag
    final IndexMemory memory =
        IndexMemory.ofProcess(
            new IndexMemoryContext()
                .budget(budget)
                .dataDirectory(target)
                .time(new ServerTime(() -> nowMs, () -> 0))); // stands: deadlines stay as they are
    try (Indexes indexes = new Indexes(memory)) {
      for (final SalvagedIndexes.Content content : found.contents()) {
        if (content.entry() != null || !isComplete) { // else it never came to be there
          write(indexes, content, nowMs);
        }
      }
      final List<String> unsaved = new ArrayList<>();
      indexes.node().stop(unsaved::add); // in order: else it has no indexes at level memory
      if (!unsaved.isEmpty()) {
        throw new IOException("cannot write: " + String.join("; ", unsaved));
      }
    }
    if (ended > 0) {
      report.add("left out, as their deadlines have come: entries=" + ended);
    }
    report.add("wrote entries=" + entries + " data=" + target);
  }

  private void write(Indexes indexes, SalvagedIndexes.Content content, long nowMs)
      throws IOException {
    final long number = content.number();
    final CatalogEntry entry = content.entry();
    final boolean isKnown = entry != null;
    final String known = isKnown ? entry.name() : "salvaged-" + number;
    final IndexKind kind = isKnown ? entry.definition().kind() : IndexKind.ORDERED;
    final Durability durability = isKnown ? entry.definition().durability() : Durability.DISK;
    if (!isKnown) {
      report.add("the creation of an index is lost, so its name and kind: index=" + known);
    }
    final boolean isTaken = !names.add(known); // its removal is lost, or that of the one before
    if (isTaken) {
      report.add("a name of two indexes, of which one was dropped: index=" + known);
    }
    final String name = isTaken ? known + "-" + number : known;
    names.add(name);
    final long before = entries;
    if (name.equals(Indexes.DEFAULT_NAME)) { // the one that is there from the start
      await(name, ended -> indexes.catalog().drop(name, 0, ended));
    }
    await(
        name,
        ended ->
            indexes
                .catalog()
                .create(
                    CreateIndexRequest.newBuilder()
                        .setIndex(name)
                        .setKind(kind)
                        .setDurability(durability)
                        .build(),
                    ended));
    write(indexes.find(name), content, nowMs);
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

  private static void await(String index, Consumer<IndexCatalog.Created> request)
      throws IOException {
    final CompletableFuture<Void> done = new CompletableFuture<>();
    request.accept(
        (incarnation, isDone, failure) -> {
          if (failure == null) {
            done.complete(null);
          } else {
            done.completeExceptionally(failure);
          }
        });
    try {
      done.join(); // the node ends each request
    } catch (CompletionException e) {
      throw new IOException("index=" + index + ": " + e.getCause().getMessage(), e);
    }
  }

  private void write(ServedIndex index, SalvagedIndexes.Content content, long nowMs)
      throws IOException {
    final Semaphore free = new Semaphore(WRITES);
    final AtomicReference<Write> failed = new AtomicReference<>();
    for (final Map.Entry<ByteString, SalvagedIndexes.Newest> each : content.entries().entrySet()) {
      final SalvagedIndexes.Newest newest = each.getValue();
      if (newest.value() == null) {
        continue;
      }
      if (newest.deadline() != 0 && newest.deadline() <= nowMs) {
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
              .put(each.getKey(), newest.value())
              .ttl(newest.deadline() == 0 ? 0 : newest.deadline() - nowMs);
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

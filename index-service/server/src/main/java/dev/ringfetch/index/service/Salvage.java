package dev.ringfetch.index.service;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.data.DataDirectory;
import dev.ringfetch.index.data.OfflineDirectory;
import dev.ringfetch.index.disk.HostDisk;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.host.ServerTime;
import dev.ringfetch.index.journal.CatalogEntry;
import dev.ringfetch.index.journal.Journal;
import dev.ringfetch.index.journal.JournalInspection;
import dev.ringfetch.index.journal.JournalSalvage;
import dev.ringfetch.index.node.IndexCatalog;
import dev.ringfetch.index.node.StopFiles;
import dev.ringfetch.index.partition.Write;
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
      final HostDisk disk = HostDisk.readOnly(directory.path());
      final int ends = new StopFiles(disk).groups().size();
      if (ends > 0) {
        salvage.report.add(
            "not read: records of orderly ends, of indexes at level memory: " + ends);
      }
      if (!salvage.readAsAStart(disk, directory.origin())) {
        salvage.search(disk, directory.origin());
      }
    }
    salvage.write(target, budget);
    return new Report(salvage.isComplete, List.copyOf(salvage.report));
  }

  /** Reads the journal if a start would; returns false if that refuses it. */
  private boolean readAsAStart(HostDisk disk, long origin) throws IOException {
    if (!Journal.isIn(disk)) {
      report.add("missing: the journal: data=" + disk);
      return false;
    }
    found = new SalvagedIndexes();
    final JournalInspection inspection;
    try {
      inspection = JournalInspection.of(disk, origin, found);
    } catch (IOException e) {
      report.add("no server starts on it: " + e.getMessage());
      return false;
    }
    report.addAll(inspection.faults());
    report.addAll(found.missing());
    if (inspection.unfinishedBytes() > 0) {
      report.add(
          "unfinished writes at its end, or damage of the last ones: bytes="
              + inspection.unfinishedBytes());
    }
    isComplete = inspection.isEndKnown() && found.missing().isEmpty();
    report.add("read records=" + inspection.records() + " data=" + disk);
    return true;
  }

  /** Searches all files for records. */
  private void search(HostDisk disk, long origin) throws IOException {
    found = new SalvagedIndexes();
    final JournalSalvage journal = new JournalSalvage(disk, origin, found, found::onPartialRecord);
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
            new IndexMemory.Context()
                .budget(budget)
                .dataDirectory(target)
                .time(new ServerTime(() -> nowMs, () -> 0))); // stands: deadlines stay as they are
    try (Indexes indexes = new Indexes(memory)) {
      for (final SalvagedIndexes.Content content : found.contents()) {
        if (content.entry() != null || !isComplete) { // else it never came to be there
          write(indexes, content, nowMs);
        }
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
      await(name, ended -> indexes.catalog().drop(name, ended));
    }
    await(name, ended -> indexes.catalog().create(name, kind, durability, 0, ended));
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

package dev.ringfetch.index.service;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.disk.SimulatedDisk;
import dev.ringfetch.index.journal.FileChanges;
import dev.ringfetch.index.journal.SnapshotCycle;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.IndexKind;
import io.grpc.StatusException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Changes the files of a data directory at random, and does with it what {@code index dump} and
 * {@code index salvage} do. All that may happen is an {@link IOException}; or that a dump has what
 * was written, and a salvage makes a directory that is sound, in which no key has a value that was
 * never written to it.
 *
 * <p>Used by one thread.
 */
final class DirectoryFuzz {
  /** How long one case may take: a hang, else. */
  private static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(60);

  private static final long BUDGET = 64L << 20;
  private static final int WRITES = 150;
  private static final int KEYS = 60;
  private static final List<String> NAMES = List.of("hash", "ordered");

  /** Zeros that are kept of those that fill a file. */
  private static final int ZEROS = 8192;

  private final Random random;
  private final Path folder;
  private final Map<String, Long> counts = new TreeMap<>();

  /** The directory whose files are changed, its former states, and that of another server. */
  private final SimulatedDisk whole;

  private final List<SimulatedDisk> others = new ArrayList<>();

  /** Lengths of whole files, of which zeros at the end are left out on the simulated disks. */
  private final Map<String, Long> lengths = new HashMap<>();

  /** What each index has, by its name; and all values that a key has had anywhere. */
  private final Map<String, Map<ByteString, ByteString>> model = new TreeMap<>();

  private final Set<ByteString> values = new HashSet<>();
  private final FileChanges changes;

  DirectoryFuzz(long seed, Path folder) throws IOException {
    random = new Random(seed);
    this.folder = folder;
    final Path another = folder.resolve("another");
    write(another);
    others.add(read(another));
    model.clear();
    final Path data = folder.resolve("data");
    for (int part = 0; part < 3; part++) {
      write(data);
      others.add(read(data));
    }
    whole = read(data);
    changes = new FileChanges(random, others, this::count);
    for (final String outcome :
        List.of("dump refused", "dumped", "salvage refused", "salvaged", "unchanged")) {
      counts.put(outcome, 0L);
    }
  }

  private void count(String what) {
    counts.merge(what, 1L, Long::sum);
  }

  /** Serves a directory for some writes and a snapshot, and ends in order. */
  private void write(Path data) throws IOException {
    try (Indexes indexes = open(data)) {
      for (final String name : NAMES) {
        if (indexes.find(name) == null) {
          indexes.create(
              name, name.equals("hash") ? IndexKind.HASH : IndexKind.ORDERED, Durability.DISK);
        }
        final ServedIndex index = indexes.find(name);
        for (int i = 0; i < WRITES; i++) {
          write(index, model.computeIfAbsent(name, absent -> new HashMap<>()));
        }
      }
      // An index that was dropped, and whose name another kind has since.
      indexes.drop("other", index -> {});
      indexes.create(
          "other", random.nextBoolean() ? IndexKind.HASH : IndexKind.ORDERED, Durability.INTERVAL);
      write(indexes.find("other"), new HashMap<>());
      if (random.nextBoolean()) {
        snapshot(indexes);
      }
    } catch (StatusException e) {
      throw new IOException(e);
    }
  }

  private static Indexes open(Path data) throws IOException {
    return new Indexes(
        IndexMemory.ofProcess(new IndexMemory.Context().budget(BUDGET).dataDirectory(data)));
  }

  /** Writes one entry or removes it: half of the values name their key. */
  private void write(ServedIndex index, Map<ByteString, ByteString> content) {
    final ByteString key = ByteString.copyFromUtf8("key" + random.nextInt(KEYS));
    final CompletableFuture<Integer> answer = new CompletableFuture<>();
    final Write write = new Write(done -> answer.complete(done.outcome()));
    if (random.nextInt(4) == 0) {
      write.delete(key);
      content.remove(key);
    } else {
      final byte[] noise = new byte[random.nextInt(300)];
      random.nextBytes(noise);
      final ByteString value = key.concat(ByteString.copyFrom(noise));
      write.put(key, value);
      if (random.nextInt(4) == 0) {
        write.ttl(TimeUnit.DAYS.toMillis(1));
      }
      content.put(key, value);
      values.add(value);
    }
    if (index.partition(key).submit(write) != 0 || answer.join() != Write.DONE) {
      throw new IllegalStateException("not written: " + write.outcome());
    }
  }

  private static void snapshot(Indexes indexes) {
    final CompletableFuture<Void> taken = new CompletableFuture<>();
    indexes
        .memory()
        .journal()
        .snapshot(
            new SnapshotCycle.Listener() {
              @Override
              public void onSnapshot(SnapshotCycle.Taken snapshot) {
                taken.complete(null);
              }

              @Override
              public void onFailure(IOException failure) {
                taken.completeExceptionally(failure);
              }
            });
    taken.join();
  }

  private SimulatedDisk read(Path data) throws IOException {
    final SimulatedDisk disk = new SimulatedDisk();
    try (Stream<Path> files = Files.list(data)) {
      for (final Path file : files.sorted().toList()) {
        final byte[] content = Files.readAllBytes(file);
        final String name = file.getFileName().toString();
        lengths.merge(name, (long) content.length, Math::max);
        disk.content(
            name,
            Arrays.copyOf(content, Math.min(content.length, FileChanges.used(content) + ZEROS)));
      }
    }
    return disk;
  }

  /** Writes the files of a disk, those that were not cut in their whole length. */
  private void write(SimulatedDisk disk, Path data) throws IOException {
    Files.createDirectory(data);
    for (final String name : disk.names()) {
      final byte[] content = disk.content(name);
      try (RandomAccessFile file = new RandomAccessFile(data.resolve(name).toFile(), "rw")) {
        file.write(content);
        if (content.length - FileChanges.used(content) >= ZEROS && lengths.containsKey(name)) {
          file.setLength(Math.max(content.length, lengths.get(name)));
        }
      }
    }
  }

  /** How often each change was made, and how it ended. */
  Map<String, Long> counts() {
    return counts;
  }

  /** Makes one to three changes, and looks what comes of them. */
  void run(int number) throws IOException {
    final SimulatedDisk disk = whole.copy();
    final List<String> done = new ArrayList<>();
    for (int left = 1 + random.nextInt(3); left > 0; left--) {
      done.add(changes.change(disk));
    }
    final long changed =
        Stream.concat(disk.names().stream(), whole.names().stream())
            .distinct()
            .filter(name -> !isSame(disk, name))
            .count();
    if (changed == 0) {
      count("unchanged");
      return;
    }
    final Path damaged = folder.resolve("damaged" + number);
    final Path salvaged = folder.resolve("salvaged" + number);
    final long beginNs = System.nanoTime();
    try {
      write(disk, damaged);
      dump(damaged, changed == 1, done);
      salvage(damaged, salvaged, done);
    } finally {
      delete(damaged);
      delete(salvaged);
    }
    if (System.nanoTime() - beginNs > LIMIT_NS) {
      throw new AssertionError("too long: " + done);
    }
  }

  private boolean isSame(SimulatedDisk disk, String name) {
    return disk.names().contains(name)
        && whole.names().contains(name)
        && Arrays.equals(disk.content(name), whole.copy().content(name));
  }

  private void dump(Path data, boolean isOne, List<String> done) throws IOException {
    try (OfflineIndexes indexes = OfflineIndexes.open(data, BUDGET)) {
      for (final String name : NAMES) {
        final Map<ByteString, ByteString> found = entries(indexes, name);
        if (isOne && !found.equals(model.get(name))) {
          throw new AssertionError("dumped something else: index=" + name + " " + done);
        }
      }
      count("dumped");
    } catch (IOException e) {
      count("dump refused");
    }
  }

  private static Map<ByteString, ByteString> entries(OfflineIndexes indexes, String name)
      throws IOException {
    final Map<ByteString, ByteString> found = new HashMap<>();
    indexes.walk(name, entry -> found.put(entry.getKey(), entry.getValue()) == null);
    return found;
  }

  private void salvage(Path data, Path target, List<String> done) throws IOException {
    final List<String> report;
    try {
      report = Salvage.run(data, target, BUDGET);
    } catch (IOException e) {
      count("salvage refused");
      if (Files.exists(data.resolve("lock"))) {
        throw new AssertionError("whatever is left is salvaged: " + done, e);
      }
      return;
    }
    count("salvaged");
    try (OfflineIndexes indexes = OfflineIndexes.open(target, BUDGET)) {
      if (!indexes.faults().isEmpty() || !indexes.isClean()) {
        throw new AssertionError("not sound: " + indexes.faults() + " " + done);
      }
      for (final OfflineIndexes.Found index : indexes.found()) {
        indexes.walk(index.name(), entry -> check(entry, done, report));
      }
    }
  }

  private boolean check(Entry entry, List<String> done, List<String> report) {
    if (!values.contains(entry.getValue()) || !entry.getValue().startsWith(entry.getKey())) {
      throw new AssertionError("never written: " + entry + " " + done + " " + report);
    }
    return true;
  }

  private static void delete(Path directory) throws IOException {
    if (Files.exists(directory)) {
      try (Stream<Path> files = Files.list(directory)) {
        for (final Path file : files.toList()) {
          Files.delete(file);
        }
      }
      Files.delete(directory);
    }
  }

  /** The command {@code index-service/server/src/test/fuzz/run}: number of cases, and seed. */
  public static void main(String[] args) throws Exception {
    final int count = Integer.parseInt(args[0]);
    final long seed = args.length > 1 ? Long.parseLong(args[1]) : System.nanoTime();
    System.out.println("fuzz of directories: count=" + count + " seed=" + seed);
    final Map<String, Long> counts = new TreeMap<>();
    for (int done = 0; done < count; done += 100) {
      final Path folder = Files.createTempDirectory("ringfetch-fuzz-");
      try {
        run(seed + done / 100, Math.min(100, count - done), folder)
            .forEach((what, times) -> counts.merge(what, times, Long::sum));
      } finally {
        delete(folder.resolve("another"));
        delete(folder.resolve("data"));
        delete(folder);
      }
    }
    System.out.println("fuzz of directories: " + counts);
  }

  /** Makes so many cases out of one directory; returns what was counted. */
  static Map<String, Long> run(long seed, int cases, Path folder) throws IOException {
    final DirectoryFuzz fuzz = new DirectoryFuzz(seed, folder);
    for (int i = 0; i < cases; i++) {
      try {
        fuzz.run(i);
      } catch (RuntimeException | IOException | Error e) {
        throw new AssertionError("seed=" + seed + " case=" + i, e);
      }
    }
    return fuzz.counts();
  }
}

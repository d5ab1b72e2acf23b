package dev.ringfetch.index.service;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.ringfetch.index.data.OfflineDirectory;
import dev.ringfetch.index.disk.HostDisk;
import dev.ringfetch.index.disk.SimulatedDisk;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.journal.FileChanges;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.JournalSalvage;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.journal.SnapshotCycle;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.CompareAndSetRequest;
import dev.ringfetch.index.v1.DeleteRangeRequest;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.KeyRange;
import dev.ringfetch.index.v1.OpenClientRequest;
import dev.ringfetch.index.v1.RequestNumber;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Server;
import io.grpc.ServerBuilder;
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
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Changes the files of a data directory, which has everything that a server writes, at random, and
 * does with it what {@code index dump} and {@code index salvage} do. All that may happen is an
 * {@link IOException}; or that a dump has what was written, and a salvage makes a directory that is
 * sound. In it no key has a value that was never written to it, each entry whose last record has
 * not changed is as it was, and where a salvage says that nothing is missing, nothing is. Else it
 * names the file and the place of each record that is lost.
 *
 * <p>Used by one thread.
 */
final class DirectoryFuzz {
  /** How long one case may take: a hang, else. */
  private static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(60);

  private static final long BUDGET = 64L << 20;
  private static final int WRITES = 40;
  private static final int KEYS = 60;

  /** Entries of a batch: more than 17 KiB of them. */
  private static final int BATCH = 250;

  /** The length of a value whose record once passed for the header of a batch, and others. */
  private static final int[] LENGTHS = {0, 16_928, 70_000, 1_000_000};

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

  /** The last record of each key, with the places where it stands. */
  private final Map<Key, Last> last = new HashMap<>();

  private final Map<Long, String> names = new HashMap<>();

  /** A key of an index, which has this number. */
  private record Key(long index, ByteString key) {}

  /** Where a record stands. */
  private record Place(String file, int offset, int length) {
    /** Whether a report names it, or the file as a whole. */
    boolean isNamed(String line) {
      final Matcher named = GAP.matcher(line);
      return named.find()
          && named.group(1).equals(file)
          && (named.group(2) == null
              || (Long.parseLong(named.group(2)) < offset + length
                  && offset < Long.parseLong(named.group(2)) + Long.parseLong(named.group(3))));
    }
  }

  /** A record, and all places of it. */
  private record Last(long lsn, List<Place> places) {}

  private static final Pattern GAP =
      Pattern.compile("file=\\S*/([a-z0-9-]+)\\b(?: offset=(\\d+) length=(\\d+))?");

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
    findPlaces(data);
    changes = new FileChanges(random, others, this::count);
    for (final String outcome :
        List.of(
            "dump refused", "dumped", "salvage refused", "salvaged", "salvaged all", "unchanged")) {
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
          IndexRequests.create(
              indexes,
              name,
              name.equals("hash") ? IndexKind.HASH : IndexKind.ORDERED,
              Durability.DISK);
        }
        final ServedIndex index = indexes.find(name);
        final Map<ByteString, ByteString> content =
            model.computeIfAbsent(name, absent -> new HashMap<>());
        for (int i = 0; i < WRITES; i++) {
          write(index, content);
        }
        final ByteString key = ByteString.copyFromUtf8("long");
        for (final int length : LENGTHS) {
          put(index, content, key.concat(ByteString.copyFromUtf8("" + length)), noise(length));
        }
        // Files of journals as values: of this directory, and of another with the same indexes.
        for (final SimulatedDisk other : others) {
          for (final String file : other.names()) {
            final byte[] bytes = other.content(file);
            final int length = Math.min(FileChanges.used(bytes), 900_000);
            put(
                index,
                content,
                ByteString.copyFromUtf8("0".repeat(random.nextInt(8)) + file),
                ByteString.copyFrom(bytes, 0, length));
          }
        }
      }
      try (NumberedWriter writer = new NumberedWriter(indexes)) {
        for (final String name : NAMES) {
          writer.write(name, model.get(name));
        }
      }
      // An index that was dropped, and whose name another kind has since.
      IndexRequests.drop(indexes, "other");
      IndexRequests.create(
          indexes,
          "other",
          random.nextBoolean() ? IndexKind.HASH : IndexKind.ORDERED,
          Durability.INTERVAL);
      write(indexes.find("other"), new HashMap<>());
      if (random.nextBoolean()) {
        snapshot(indexes);
      }
    } catch (StatusException e) {
      throw new IOException(e);
    }
  }

  private ByteString noise(int length) {
    final byte[] noise = new byte[length];
    random.nextBytes(noise);
    return ByteString.copyFrom(noise);
  }

  private void put(
      ServedIndex index, Map<ByteString, ByteString> content, ByteString key, ByteString rest) {
    carryOut(index, write -> write.put(key, key.concat(rest)));
    content.put(key, key.concat(rest));
    values.add(key.concat(rest));
  }

  /** Writes of a client with numbers: batches, times to live, lost comparisons, ranges. */
  private final class NumberedWriter implements AutoCloseable {
    private final Server server;
    private final ManagedChannel channel;
    private final IndexGrpc.IndexBlockingStub stub;
    private long client; // of one index
    private long number;

    NumberedWriter(Indexes indexes) throws IOException {
      server = ServerBuilder.forPort(0).addService(new IndexService(indexes)).build().start();
      channel =
          ManagedChannelBuilder.forAddress("localhost", server.getPort()).usePlaintext().build();
      stub = IndexGrpc.newBlockingStub(channel);
    }

    private RequestNumber number(int count) {
      final RequestNumber.Builder next =
          RequestNumber.newBuilder().setClient(client).setNumber(number + 1);
      number += count;
      return next.setFirstIncomplete(next.getNumber()).build();
    }

    void write(String name, Map<ByteString, ByteString> content) {
      client = stub.openClient(OpenClientRequest.newBuilder().setIndex(name).build()).getClient();
      final BatchPutRequest.Builder batch = BatchPutRequest.newBuilder().setIndex(name);
      for (int i = 0; i < BATCH; i++) {
        final ByteString key = ByteString.copyFromUtf8("user/" + random.nextInt(2 * BATCH));
        final ByteString value = key.concat(noise(random.nextInt(120)));
        batch
            .addEntriesBuilder()
            .setKey(key)
            .setValue(value)
            .setTtlMs(random.nextInt(4) == 0 ? TimeUnit.DAYS.toMillis(1) : 0);
        content.put(key, value);
        values.add(value);
      }
      stub.batchPut(batch.setNumber(number(BATCH)).build())
          .getOutcomesList()
          .forEach(
              outcome -> {
                if (outcome.getCode() != 0) {
                  throw new IllegalStateException("not written: " + outcome);
                }
              });
      final ByteString lost = ByteString.copyFromUtf8("user/lost");
      final var unused =
          stub.compareAndSet(
              CompareAndSetRequest.newBuilder()
                  .setIndex(name)
                  .setKey(lost)
                  .setExpectedVersion(1L << 40)
                  .setValue(lost)
                  .setNumber(number(1))
                  .build());
      if (name.equals("ordered")) {
        final ByteString prefix = ByteString.copyFromUtf8("user/1");
        final var removed =
            stub.deleteRange(
                DeleteRangeRequest.newBuilder()
                    .setIndex(name)
                    .setRange(KeyRange.newBuilder().setPrefix(prefix))
                    .setNumber(number(1))
                    .build());
        if (removed.getMore()) {
          throw new IllegalStateException("removed=" + removed.getRemoved());
        }
        content.keySet().removeIf(key -> key.startsWith(prefix));
      }
    }

    @Override
    public void close() throws IOException {
      channel.shutdownNow();
      server.shutdownNow();
      try {
        server.awaitTermination();
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
    }
  }

  /** Finds out where the last record of each key stands. */
  private void findPlaces(Path data) throws IOException {
    try (OfflineDirectory directory = OfflineDirectory.open(data)) {
      new JournalSalvage(
              HostDisk.readOnly(directory.path()),
              directory.origin(),
              this::findPlace,
              this::findPlace)
          .run();
    }
  }

  private void findPlace(JournalRecord record, Supplier<String> where) {
    if (record.type() == RecordDescriptor.GROUP_BEGIN) {
      try {
        names.put(record.index(), GroupState.parseFrom(record.value()).getIndex());
      } catch (InvalidProtocolBufferException e) {
        throw new IllegalStateException(e);
      }
    }
    if (record.type() != RecordDescriptor.PUT && record.type() != RecordDescriptor.DELETE) {
      return;
    }
    final String[] place = where.get().split("=| offset=", -1);
    final Last found = new Last(record.lsn(), new ArrayList<>());
    last.merge(
            new Key(record.index(), record.key()),
            found,
            (before, now) -> now.lsn() > before.lsn() ? now : before)
        .places()
        .add(
            new Place(
                Path.of(place[1]).getFileName().toString(),
                Integer.parseInt(place[2]),
                RecordDescriptor.aligned(record.length())));
  }

  private static Indexes open(Path data) throws IOException {
    return new Indexes(
        IndexMemory.ofProcess(new IndexMemoryContext().budget(BUDGET).dataDirectory(data)));
  }

  /** Writes one entry or removes it: half of the values name their key. */
  private void write(ServedIndex index, Map<ByteString, ByteString> content) {
    final ByteString key = ByteString.copyFromUtf8("key" + random.nextInt(KEYS));
    if (random.nextInt(4) == 0) {
      carryOut(index, write -> write.delete(key));
      content.remove(key);
      return;
    }
    final ByteString value = key.concat(noise(random.nextInt(300)));
    final long ttlMs = random.nextInt(4) == 0 ? TimeUnit.DAYS.toMillis(1) : 0;
    carryOut(index, write -> write.put(key, value).ttl(ttlMs));
    content.put(key, value);
    values.add(value);
  }

  private static void carryOut(ServedIndex index, UnaryOperator<Write> prepare) {
    final CompletableFuture<Integer> answer = new CompletableFuture<>();
    final Write write = prepare.apply(new Write(done -> answer.complete(done.outcome())));
    if (index.partition(write.key()).submit(write) != 0 || answer.join() != Write.DONE) {
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
      salvage(damaged, salvaged, disk, done);
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

  private void salvage(Path data, Path target, SimulatedDisk disk, List<String> done)
      throws IOException {
    final Salvage.Report report;
    try {
      report = Salvage.run(data, target, BUDGET);
    } catch (IOException e) {
      count("salvage refused");
      if (Files.exists(data.resolve("lock")) && !e.getMessage().startsWith("no record is left")) {
        throw new AssertionError("whatever is left is salvaged: " + done, e);
      }
      return;
    }
    count(report.isComplete() ? "salvaged all" : "salvaged");
    try (OfflineIndexes indexes = OfflineIndexes.open(target, BUDGET)) {
      if (!indexes.faults().isEmpty() || !indexes.isClean()) {
        throw new AssertionError("not sound: " + indexes.faults() + " " + done);
      }
      for (final OfflineIndexes.Found index : indexes.found()) {
        indexes.walk(index.name(), entry -> check(entry, done, report.lines()));
      }
      for (final String name : NAMES) {
        final Map<ByteString, ByteString> found = entries(indexes, name);
        if (report.isComplete() && !found.equals(model.get(name))) {
          throw new AssertionError("not all: index=" + name + " " + done + " " + report);
        }
      }
      final Map<Long, Map<ByteString, ByteString>> found = new HashMap<>();
      for (final Map.Entry<Key, Last> each : last.entrySet()) {
        final long index = each.getKey().index();
        final String name = names.get(index);
        if (NAMES.contains(name)) {
          if (!found.containsKey(index)) { // by its number if its creation is lost
            final Map<ByteString, ByteString> named = entries(indexes, name);
            found.put(index, named.isEmpty() ? entries(indexes, "salvaged-" + index) : named);
          }
          check(each.getKey(), each.getValue(), found.get(index), disk, report, done);
        }
      }
    }
  }

  private void check(
      Key key,
      Last record,
      Map<ByteString, ByteString> found,
      SimulatedDisk disk,
      Salvage.Report report,
      List<String> done) {
    if (report.isComplete()
        || Objects.equals(model.get(names.get(key.index())).get(key.key()), found.get(key.key()))) {
      return;
    }
    if (record.places().stream().anyMatch(place -> isIntact(place, disk))) {
      throw new AssertionError(
          "not hit, and not found: " + key + " " + record + " " + done + " " + report.lines());
    }
    if (record.places().stream()
        .noneMatch(
            place ->
                isOfRemovedSnapshot(place, disk)
                    || report.lines().stream().anyMatch(place::isNamed))) {
      throw new AssertionError("not named: " + record + " " + done + " " + report.lines());
    }
  }

  /** Nothing else in a directory tells that it had a snapshot: the report is incomplete, though. */
  private static boolean isOfRemovedSnapshot(Place place, SimulatedDisk disk) {
    return place.file().startsWith("snapshot-") && !disk.names().contains(place.file());
  }

  private boolean isIntact(Place place, SimulatedDisk disk) {
    if (!disk.names().contains(place.file())) {
      return false;
    }
    final byte[] now = disk.content(place.file());
    final int end = place.offset() + place.length();
    return end <= now.length
        && Arrays.equals(
            now, place.offset(), end, whole.content(place.file()), place.offset(), end);
  }

  private boolean check(Entry entry, List<String> done, List<String> report) {
    if (!values.contains(entry.getValue()) || !entry.getValue().startsWith(entry.getKey())) {
      throw new AssertionError(
          "never written: " + entry.getKey().toStringUtf8() + " " + done + " " + report);
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

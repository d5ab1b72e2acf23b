package dev.ringfetch.index.journal;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.disk.SimulatedDisk;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.v1.Durability;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Changes the files of a directory at random, out of the files of other states of the directory and
 * of another one, too; then verifies, opens and salvages it. All that may happen is an {@link
 * IOException}, or that exactly what was durable is there. Where several files were exchanged, an
 * earlier state of the directory may be: nothing in it tells that it is not the newest.
 *
 * <p>Used by one thread.
 */
final class JournalFuzz {
  /** How long verifying, opening and salvaging may take together: a hang, else. */
  private static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(60);

  private static final int RECORDS = 25;

  private final Random random;
  private final SimulatedDisk whole = new SimulatedDisk();
  private final List<SimulatedDisk> others = new ArrayList<>();
  private final List<Map<String, Long>> states = new ArrayList<>();
  private final Map<String, Long> counts = new TreeMap<>();
  private final FileChanges changes;

  JournalFuzz(long seed) throws IOException {
    random = new Random(seed);
    final SnapshotLife life = new SnapshotLife(whole, 1);
    states.add(life.versions());
    for (int part = 0; part < 3; part++) {
      for (int i = 0; i < RECORDS; i++) {
        life.put("key " + random.nextInt(40), random.nextInt(3000));
        states.add(life.versions());
      }
      others.add(whole.copy());
      if (part < 2) {
        life.snapshot();
      }
    }
    whole.kill();
    others.add(another());
    changes = new FileChanges(random, others, this::count);
    for (final String outcome : List.of("refused", "same", "earlier state", "unchanged")) {
      counts.put(outcome, 0L);
    }
  }

  /** The directory of another server. */
  private SimulatedDisk another() throws IOException {
    final SimulatedDisk disk = new SimulatedDisk();
    final Journal journal =
        Journal.open(
            disk,
            new JournalContext()
                .segmentLength(JournalLife.SEGMENT_LENGTH)
                .owner(JournalLife.ORIGIN + 1, 1),
            (record, place) -> {});
    final PartitionLog log = new PartitionLog(journal, SnapshotLife.INDEX, 0, Durability.DISK, 0);
    log.onCommit(() -> {});
    for (int i = 0; i < RECORDS; i++) {
      log.append(
          new Write(write -> {})
              .put(ByteString.copyFromUtf8("key " + i), ByteString.copyFrom(new byte[1000])));
      journal.work(i);
    }
    return disk;
  }

  /** How often each change was made, and how it ended. */
  Map<String, Long> counts() {
    return counts;
  }

  private void count(String what) {
    counts.merge(what, 1L, Long::sum);
  }

  /** Makes one to three changes, and looks what comes of them. */
  void run() throws IOException {
    final SimulatedDisk disk = whole.copy();
    final List<String> done = new ArrayList<>();
    for (int left = 1 + random.nextInt(3); left > 0; left--) {
      done.add(changes.change(disk));
    }
    final List<String> changed = changed(disk);
    if (changed.isEmpty()) {
      count("unchanged");
      return;
    }
    final long beginNs = System.nanoTime();
    boolean verified = true;
    try {
      JournalInspection.of(disk.copy(), JournalLife.ORIGIN, (record, place) -> {});
    } catch (IOException e) {
      verified = false;
    }
    salvage(disk);
    final boolean opened = open(disk, done, changed);
    if (opened != verified) {
      throw new AssertionError("verified=" + verified + " opened=" + opened + " " + done);
    }
    if (System.nanoTime() - beginNs > LIMIT_NS) {
      throw new AssertionError("too long: " + done);
    }
  }

  /** Finds no record that was not written to this directory. */
  private void salvage(SimulatedDisk disk) throws IOException {
    new JournalSalvage(disk.copy(), JournalLife.ORIGIN, this::check, this::check).run();
  }

  private void check(JournalRecord record, Supplier<String> place) {
    if (record.type() == RecordDescriptor.PUT) {
      final String key = record.key().toStringUtf8();
      final Long lsn = record.lsn();
      if (states.stream().noneMatch(state -> lsn.equals(state.get(key)))) {
        throw new AssertionError("never written here: key=" + key + " " + place.get());
      }
    }
  }

  private boolean open(SimulatedDisk disk, List<String> done, List<String> changed)
      throws IOException {
    final Map<String, Long> found;
    try {
      found = new SnapshotLife(disk.copy(), 2).versions();
    } catch (IOException e) {
      count("refused");
      return false;
    }
    if (found.equals(states.get(states.size() - 1))) {
      count("same");
    } else if (changed.size() > 1 && states.contains(found)) {
      count("earlier state");
    } else {
      throw new AssertionError("silently accepted: " + done + " changed=" + changed);
    }
    return true;
  }

  private List<String> changed(SimulatedDisk disk) {
    final List<String> changed = new ArrayList<>();
    for (final String name : disk.names()) {
      if (!whole.names().contains(name)
          || !Arrays.equals(whole.copy().content(name), disk.content(name))) {
        changed.add(name);
      }
    }
    whole.names().stream().filter(name -> !disk.names().contains(name)).forEach(changed::add);
    return changed;
  }

  /** The command {@code index-service/server/src/test/fuzz/run}: number of cases, and seed. */
  public static void main(String[] args) throws Exception {
    final long count = Long.parseLong(args[0]);
    final long seed = args.length > 1 ? Long.parseLong(args[1]) : System.nanoTime();
    System.out.println("fuzz: count=" + count + " seed=" + seed);
    final Map<String, Long> counts = new TreeMap<>();
    for (long done = 0; done < count; done += 100) {
      run(seed + done / 100, (int) Math.min(100, count - done))
          .forEach((what, times) -> counts.merge(what, times, Long::sum));
    }
    System.out.println("fuzz: " + counts);
  }

  /** Makes so many cases out of one directory; returns what was counted. */
  static Map<String, Long> run(long seed, int cases) throws IOException {
    final JournalFuzz fuzz = new JournalFuzz(seed);
    for (int i = 0; i < cases; i++) {
      try {
        fuzz.run();
      } catch (RuntimeException | IOException | Error e) {
        throw new AssertionError("seed=" + seed + " case=" + i, e);
      }
    }
    return fuzz.counts();
  }
}

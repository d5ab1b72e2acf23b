package dev.ringfetch.index.watch;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.WatchEvent;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Watches against all changes that were made: random writes, watches that are slow, lose their
 * connections and go on from any token, servers that end and lose power, and history that is
 * removed under them.
 */
@Timeout(120)
class WatchModelTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 20261127);
  private static final int RUNS = Integer.getInteger("ringfetch.runs", 12);

  private long events;
  private int gone;
  private int slow;

  private static List<Watcher> watchers(WatchModel model) {
    final List<Watcher> watchers = new ArrayList<>();
    for (final String prefix : List.of("", "", "b", "x")) {
      watchers.add(new Watcher(model, ByteString.copyFromUtf8(prefix)));
    }
    return watchers;
  }

  /** One step of the world, or of one of the watches. */
  private static void step(WatchModel model, List<Watcher> watchers, int valueLimit) {
    final Random random = model.random;
    final int what = random.nextInt(100);
    if (what < 45) {
      model.write(valueLimit);
    } else if (what < 57) {
      model.work();
    } else if (what < 60) {
      model.work(() -> stepOne(watchers.get(random.nextInt(watchers.size()))));
    } else if (what < 62) {
      watchers.get(random.nextInt(watchers.size())).reconnect();
    } else {
      final int which = random.nextInt(watchers.size());
      if (which != 0 || random.nextInt(6) == 0) { // the first one is slow
        stepOne(watchers.get(which));
      }
    }
  }

  private static void stepOne(Watcher watcher) {
    try {
      final boolean unused = watcher.step();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void finish(WatchModel model, List<Watcher> watchers) throws IOException {
    model.work();
    for (int i = 0; i < 3; i++) { // INTERVAL: until all is written
      model.work();
    }
    for (final Watcher watcher : watchers) {
      int steps = 0;
      int idle = 0;
      while (idle < 2) {
        idle = watcher.step() ? idle + 1 : 0;
        assertTrue(++steps < 100_000, "a watch never comes to the end");
      }
      watcher.check();
      events += watcher.events();
      gone += watcher.gone();
      slow += watcher.slow();
    }
  }

  @Test
  void memoryAloneLosesNothingSilently() throws IOException {
    for (int run = 0; run < RUNS; run++) {
      final Random random = new Random(SEED + run);
      final WatchModel model =
          new WatchModel(random, Durability.MEMORY, 3L * (2_000 + random.nextInt(20_000)));
      final List<Watcher> watchers = watchers(model);
      for (int i = 0; i < 3000; i++) {
        step(model, watchers, 1_000);
      }
      finish(model, watchers);
    }
    System.out.printf("seed=%d events=%d gone=%d slow=%d%n", SEED, events, gone, slow);
    assertTrue(events > 100L * RUNS, "events=" + events);
    assertTrue(gone > 0 && slow > 0, "gone=" + gone + " slow=" + slow);
  }

  @Test
  void watchesGoOnWithTheNextServers() throws IOException {
    for (int run = 0; run < RUNS; run++) {
      final Random random = new Random(SEED + run);
      final WatchModel model =
          new WatchModel(
              random,
              random.nextBoolean() ? Durability.DISK : Durability.INTERVAL,
              3L * (random.nextBoolean() ? 1_000 : random.nextInt(60_000)));
      final List<Watcher> watchers = watchers(model);
      final int lives = 1 + random.nextInt(4);
      for (int life = 0; life < lives; life++) {
        for (int i = 0; i < 800; i++) {
          step(model, watchers, 2_000);
        }
        if (random.nextInt(3) == 0) {
          model.end(); // as when nobody watched for long
        } else {
          model.restart();
        }
        for (final Watcher watcher : watchers) {
          watcher.reconnect();
        }
      }
      finish(model, watchers);
    }
    System.out.printf("seed=%d events=%d gone=%d slow=%d%n", SEED, events, gone, slow);
    assertTrue(events > 100L * RUNS, "events=" + events);
    assertTrue(gone == 0 && slow > 0, "gone=" + gone + " slow=" + slow);
  }

  @Test
  void watchesOfBoxesTellWhatEntersMovesAndLeaves() throws IOException {
    final Map<WatchEvent.Crossing, Integer> crossings = new EnumMap<>(WatchEvent.Crossing.class);
    for (int run = 0; run < RUNS; run++) {
      final Random random = new Random(SEED + run);
      final WatchModel model =
          new WatchModel(
              random,
              random.nextBoolean() ? Durability.DISK : Durability.INTERVAL,
              3L * (random.nextBoolean() ? 1_000 : random.nextInt(60_000)),
              true);
      final List<Watcher> watchers = new ArrayList<>();
      for (final double edge : new double[] {3, 0, 5, 7}) {
        watchers.add(new Watcher(model, ByteString.EMPTY, edge));
      }
      final int lives = 1 + random.nextInt(4);
      for (int life = 0; life < lives; life++) {
        for (int i = 0; i < 800; i++) {
          step(model, watchers, 500);
        }
        if (random.nextInt(3) == 0) {
          model.end();
        } else {
          model.restart();
        }
        for (final Watcher watcher : watchers) {
          watcher.reconnect();
        }
      }
      finish(model, watchers);
      watchers.forEach(watcher -> watcher.count(crossings));
    }
    System.out.printf("seed=%d crossings=%s slow=%d%n", SEED, crossings, slow);
    for (final WatchEvent.Crossing crossing :
        List.of(WatchEvent.Crossing.ENTER, WatchEvent.Crossing.MOVE, WatchEvent.Crossing.LEAVE)) {
      assertTrue(crossings.getOrDefault(crossing, 0) > 20 * RUNS, crossings::toString);
    }
    assertTrue(gone == 0 && slow > 0, "gone=" + gone + " slow=" + slow);
  }

  @Test
  void aJournalThatLosesItsBeginLosesNothingSilently() throws IOException {
    for (int run = 0; run < RUNS; run++) {
      final Random random = new Random(SEED + run);
      final WatchModel model =
          new WatchModel(
              random,
              random.nextBoolean() ? Durability.DISK : Durability.INTERVAL,
              3L * (50_000 + random.nextInt(500_000)));
      final List<Watcher> watchers = watchers(model);
      for (int i = 0; i < 200; i++) {
        step(model, watchers, 50_000);
      }
      model.restart();
      watchers.forEach(Watcher::reconnect);
      for (int i = 0; i < 2_000; i++) {
        step(model, watchers, 50_000);
        if (random.nextInt(50) == 0) {
          model.removeSegment();
        }
      }
      finish(model, watchers);
    }
    System.out.printf("seed=%d events=%d gone=%d slow=%d%n", SEED, events, gone, slow);
    assertTrue(events > 100L * RUNS, "events=" + events);
    assertTrue(gone > 0 && slow > 0, "gone=" + gone + " slow=" + slow);
  }

  @Test
  void aPartitionWithoutChangesIsNotGoneThoughLsnsWereSkipped() throws IOException {
    final WatchModel model = new WatchModel(new Random(SEED), Durability.INTERVAL, 3_000_000);
    model.write(0, 100);
    for (int i = 0; i < 300; i++) {
      model.write(1, 50_000);
      model.work();
    }
    model.begin();
    final Watcher watcher = new Watcher(model, ByteString.EMPTY);
    model.kill();
    for (int i = 0; i < 300; i++) {
      model.write(1, 50_000);
      model.work();
    }
    model.removeSegment(); // of the first partition's only record, before the LSNs were skipped
    watcher.reconnect();
    model.write(0, 100);
    finish(model, List.of(watcher));
    assertTrue(gone == 0 && events >= 2, "gone=" + gone + " events=" + events);
  }

  @Test
  void changesThatAreInNeitherRingNorJournalYetAreWaitedFor() throws IOException {
    final WatchModel model = new WatchModel(new Random(SEED), Durability.INTERVAL, 3);
    final Watcher watcher = new Watcher(model, ByteString.EMPTY);
    for (int i = 0; i < 20; i++) { // the ring keeps the newest alone, and nothing is written
      model.write(0, 100);
    }
    for (int i = 0; i < 5; i++) {
      stepOne(watcher);
    }
    assertTrue(watcher.events() == 0, "events=" + watcher.events());
    finish(model, List.of(watcher));
    assertTrue(gone == 0 && slow == 0 && events > 1, "events=" + events);
  }
}

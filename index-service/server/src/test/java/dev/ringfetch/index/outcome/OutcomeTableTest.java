package dev.ringfetch.index.outcome;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The table against a map, with clients that complete their writes and are closed. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OutcomeTableTest {
  private static final Comparator<ByteString> ORDER =
      ByteString.unsignedLexicographicalComparator();

  private static final long SEED = Long.getLong("ringfetch.seed", 1);

  private record Key(NumberedClient client, long number) {}

  private record Kept(OutcomeKind kind, boolean isPositive, long lsn, long detail) {}

  @Test
  void itHasWhatItsClientsNeedAndLittleElse() {
    System.out.println("seed=" + SEED);
    check(20, 100, 60_000);
    for (int i = 0; i < 10; i++) {
      check(1 + i % 3, 5 + 3 * i, 5_000);
    }
  }

  private static void check(int mostClients, int largestWindow, int steps) {
    int window = largestWindow;
    final Random random = new Random(SEED);
    final OutcomeBudget budget = new OutcomeBudget(1 << 16);
    final OutcomeTable table = new OutcomeTable(budget);
    final List<NumberedClient> clients = new ArrayList<>();
    final Map<Key, Kept> expected = new HashMap<>();
    for (int i = 0; i < steps; i++) {
      if (i % 500 == 0) {
        window = 1 + random.nextInt(largestWindow); // tables grow and shrink
      }
      if (clients.size() < mostClients && random.nextInt(50) == 0) {
        clients.add(new NumberedClient(random.nextLong() | 1, 1));
      }
      if (clients.isEmpty()) {
        continue;
      }
      final NumberedClient client = clients.get(random.nextInt(clients.size()));
      switch (random.nextInt(20)) {
        case 0, 1 -> client.complete(client.firstIncomplete() + random.nextInt(12));
        case 2 -> {
          if (random.nextInt(200) == 0) {
            client.close();
            clients.remove(client);
          }
        }
        default -> {
          final long number = client.firstIncomplete() + random.nextInt(window);
          final Kept kept =
              new Kept(
                  OutcomeKind.of(random.nextInt(4)),
                  random.nextBoolean(),
                  random.nextLong(1L << 48),
                  random.nextLong());
          assertTrue(table.reserve());
          table.keep(client, number, kept.kind, kept.isPositive, kept.lsn, kept.detail);
          expected.put(new Key(client, number), kept);
        }
      }
      expected.keySet().removeIf(key -> !key.client.keeps(key.number) && random.nextInt(4) == 0);
      if (i % 64 == 0) {
        compare(table, expected);
      }
      assertTrue(budget.used() <= 16_384, "slots=" + budget.used());
    }
    compare(table, expected);
    clients.forEach(NumberedClient::close);
    final NumberedClient last = new NumberedClient(5, 1);
    for (int i = 1; i <= 20_000; i++) {
      last.complete(i);
      assertTrue(table.reserve());
      table.keep(last, i, OutcomeKind.WRITTEN, false, i, 0);
    }
    assertTrue(budget.used() <= 64, "it shrinks: slots=" + budget.used());
    table.clear();
    assertEquals(0, budget.used());
  }

  private static List<KeptOutcome> all(OutcomeTable table) {
    final List<KeptOutcome> found = new ArrayList<>();
    final OutcomeWalk walk = new OutcomeWalk();
    while (!walk.isDone()) {
      step(table, walk, found);
    }
    return found;
  }

  /** A step, which has a bound. */
  private static void step(OutcomeTable table, OutcomeWalk walk, List<KeptOutcome> found) {
    table.step(walk);
    assertTrue(walk.outcomes().size() < 2 * OutcomeWalk.STEP_BYTES / OutcomeWalk.RECORD_BYTES);
    found.addAll(walk.outcomes());
    walk.clear();
  }

  /** Outcomes come, are freed and move between the steps, and the table grows and shrinks. */
  @Test
  void aWalkHasEachOutcomeThatIsThereThroughout() {
    for (int world = 0; world < 30; world++) {
      walk(new Random(SEED + world));
    }
  }

  private static void walk(Random random) {
    final OutcomeTable table = new OutcomeTable(new OutcomeBudget(1 << 20));
    final List<NumberedClient> clients = new ArrayList<>();
    final Map<Key, Long> lsns = new HashMap<>();
    long lsn = 0;
    final int begun = 1 + random.nextInt(3_000);
    final int change = random.nextInt(4_000);
    final boolean grows = random.nextBoolean();
    for (int i = 0; i < 40; i++) {
      clients.add(new NumberedClient(random.nextLong() | 1, 1));
    }
    for (int i = 0; i < begun; i++) {
      keep(table, clients.get(random.nextInt(40)), 1 + i, ++lsn, lsns);
    }
    final Map<Key, Long> before = new HashMap<>(lsns);
    final Map<Key, Long> found = new HashMap<>();
    final OutcomeWalk walk = new OutcomeWalk();
    int steps = 0;
    while (!walk.isDone()) {
      final List<KeptOutcome> some = new ArrayList<>();
      step(table, walk, some);
      some.forEach(one -> found.merge(new Key(one.client(), one.number()), one.lsn(), Math::max));
      if (++steps > 10) {
        continue; // as many as there may be without changes
      }
      for (int i = 0; i < change; i++) {
        final NumberedClient client = clients.get(random.nextInt(40));
        if (grows || random.nextInt(3) == 0) {
          keep(table, client, 10_000L * steps + i, ++lsn, lsns);
        } else {
          client.complete(client.firstIncomplete() + 1 + random.nextInt(200));
          keep(table, client, client.firstIncomplete(), ++lsn, lsns);
        }
      }
    }
    before.forEach(
        (key, kept) -> {
          if (key.client.keeps(key.number)) {
            assertTrue(found.getOrDefault(key, 0L) >= kept, "number=" + key.number);
          }
        });
    found.forEach((key, kept) -> assertTrue(kept <= lsns.get(key)));
  }

  private static void keep(
      OutcomeTable table, NumberedClient client, long number, long lsn, Map<Key, Long> lsns) {
    assertTrue(table.reserve());
    table.keep(client, number, OutcomeKind.WRITTEN, false, lsn, 0);
    lsns.put(new Key(client, number), lsn);
  }

  private static void compare(OutcomeTable table, Map<Key, Kept> expected) {
    final Map<Key, Kept> found = new HashMap<>();
    for (final KeptOutcome one : all(table)) {
      final Kept kept = new Kept(one.kind(), one.isPositive(), one.lsn(), one.detail());
      assertEquals(null, found.put(new Key(one.client(), one.number()), kept));
    }
    final Map<Key, Kept> needed = new HashMap<>(expected);
    needed.keySet().removeIf(key -> !key.client.keeps(key.number));
    assertEquals(needed, found);
    needed.forEach(
        (key, kept) -> {
          final int place = table.find(key.client, key.number);
          assertEquals(
              kept,
              new Kept(
                  table.kind(place),
                  table.isPositive(place),
                  table.lsn(place),
                  table.detail(place)));
        });
  }

  @Test
  void itRefusesAtTheLimitUntilClientsGoOn() {
    final OutcomeBudget budget = new OutcomeBudget(64);
    final OutcomeTable table = new OutcomeTable(budget);
    final NumberedClient client = new NumberedClient(1, 1);
    long number = 1;
    while (table.reserve()) {
      table.keep(client, number++, OutcomeKind.WRITTEN, true, number, 0);
    }
    assertEquals(64, budget.used());
    assertTrue(number > 32, "number=" + number);
    assertFalse(new OutcomeTable(budget).reserve());
    client.complete(number - 1);
    assertTrue(table.reserve());
    for (int i = 0; i < 32; i++) {
      assertTrue(table.reserve());
    }
    assertEquals(1, table.size());
    final OutcomeTable beyond = new OutcomeTable(budget);
    beyond.force(); // of a journal
    beyond.keep(client, number, OutcomeKind.WRITTEN, true, number, 0);
    assertEquals(1, beyond.size());
  }

  @Test
  void answersStayWithTheirOutcomesAndTakeRoom() {
    System.out.println("seed=" + SEED);
    final Random random = new Random(SEED);
    final OutcomeBudget budget = new OutcomeBudget(20_000);
    final OutcomeTable table = new OutcomeTable(budget);
    final NumberedClient client = new NumberedClient(1, 1);
    final Map<Long, ByteString> expected = new HashMap<>();
    for (long number = 1; number <= 3_000; number++) {
      assertTrue(table.reserve());
      table.keep(client, number, OutcomeKind.TRANSACTION, true, number, 1);
      final byte[] bytes = new byte[random.nextInt(3) == 0 ? random.nextInt(500) : 0];
      random.nextBytes(bytes);
      table.keepAnswer(client, number, ByteString.copyFrom(bytes));
      expected.put(number, ByteString.copyFrom(bytes));
      if (random.nextInt(40) == 0) {
        client.complete(number - random.nextInt(100));
      }
      expected.keySet().removeIf(other -> !client.keeps(other));
      expected.forEach(
          (other, answer) -> assertEquals(answer, table.answer(table.find(client, other))));
    }
    assertEquals(
        expected.values().stream().sorted(ORDER).toList(),
        all(table).stream().map(KeptOutcome::answer).sorted(ORDER).toList());
    table.clear();
    assertEquals(0, budget.used());
  }

  @Test
  void anAnswerWithoutRoomIsNotKept() {
    final OutcomeTable table = new OutcomeTable(new OutcomeBudget(20));
    final NumberedClient client = new NumberedClient(1, 1);
    assertTrue(table.reserve()); // takes 8 slots; answers get the first 10
    table.keep(client, 1, OutcomeKind.TRANSACTION, true, 1, 1);
    table.keepAnswer(client, 1, ByteString.copyFrom(new byte[57]));
    assertEquals(ByteString.EMPTY, table.answer(table.find(client, 1)));
    table.keepAnswer(client, 1, ByteString.copyFrom(new byte[56]));
    assertEquals(56, table.answer(table.find(client, 1)).size());
  }

  @Test
  void numbersArePackedWithTheirPlaceInTheWindow() {
    final NumberedClient client = new NumberedClient(1, 1);
    client.complete(100);
    client.complete(7);
    assertEquals(100, client.firstIncomplete());
    for (final long number : new long[] {100, 101, 100 + NumberedClient.WINDOW - 1}) {
      final long packed = client.packed(number);
      assertEquals(number, NumberedClient.number(packed));
      assertEquals(100, NumberedClient.firstIncomplete(packed));
    }
    final long largest = NumberedClient.NUMBER_LIMIT - 1;
    client.complete(largest - NumberedClient.WINDOW + 1);
    assertEquals(largest, NumberedClient.number(client.packed(largest)));
    assertEquals(client.firstIncomplete(), NumberedClient.firstIncomplete(client.packed(largest)));
  }

  /** Answers of one client leave room for the outcomes of all others. */
  @Test
  void answersTakeHalfOfTheBudgetAtMost() {
    final OutcomeBudget budget = new OutcomeBudget(1 << 12);
    final OutcomeTable table = new OutcomeTable(budget);
    final NumberedClient client = new NumberedClient(1, 1);
    final ByteString answer = ByteString.copyFrom(new byte[1_000]);
    int kept = 0;
    for (int number = 1; number <= 400; number++) {
      assertTrue(table.reserve());
      table.keep(client, number, OutcomeKind.WRITTEN, true, number, 0);
      table.keepAnswer(client, number, answer);
      kept += table.answer(table.find(client, number)).isEmpty() ? 0 : 1;
    }
    assertTrue(kept > 10 && kept < 400, "kept=" + kept);
    for (int other = 0; other < 16; other++) {
      assertTrue(new OutcomeTable(budget).reserve(), "other=" + other);
    }
  }
}

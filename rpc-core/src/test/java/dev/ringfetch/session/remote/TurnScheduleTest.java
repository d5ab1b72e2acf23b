package dev.ringfetch.session.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.Doorbell;
import dev.ringfetch.session.SessionContext;
import dev.ringfetch.session.poller.Poller;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.agrona.concurrent.NanoClock;
import org.junit.jupiter.api.Test;
import org.mockito.Mockito;

/** Tests of the groups of sessions, which depend on their use epoch by epoch. */
class TurnScheduleTest {
  private static final int THRESHOLD = 8;
  private static final int GROUP = 4;
  private static final int LENGTH_NS = 1_000;
  private static final long EPOCH_NS = (long) TurnSchedule.EPOCH_TURNS * LENGTH_NS;

  private long nowNs = -EPOCH_NS / 3; // clocks count from anywhere
  private final SessionContext context =
      new SessionContext()
          .clock((NanoClock) () -> nowNs)
          .turnThreshold(THRESHOLD)
          .turnGroup(GROUP)
          .turnLengthNs(LENGTH_NS);
  private final TurnSchedule turns = new TurnSchedule(context);
  private final Poller poller = poller();

  private Poller poller() {
    return new Poller(Mockito.mock(Doorbell.class), context);
  }

  private static List<TurnSchedule.Seat> seats(int count) {
    return Stream.generate(TurnSchedule.Seat::new).limit(count).toList();
  }

  private void use(List<TurnSchedule.Seat> seats) {
    seats.forEach(
        seat -> {
          if (turns.isNew(seat)) {
            turns.use(seat, poller);
          }
        });
  }

  /** An epoch in which these are in use, and no others. */
  private void epoch(List<TurnSchedule.Seat> seats) {
    use(seats);
    nowNs += EPOCH_NS;
    turns.tick(nowNs);
  }

  private int[] sizes(List<TurnSchedule.Seat> seats) {
    int[] sizes = new int[seats.get(0).groups()];
    seats.forEach(seat -> sizes[seat.group()]++);
    return sizes;
  }

  private void assertNoGroups(List<TurnSchedule.Seat> seats) {
    use(seats);
    seats.forEach(seat -> assertEquals(TurnSchedule.NO_GROUP, seat.group()));
  }

  private void assertGroups(int groups, List<TurnSchedule.Seat> seats) {
    use(seats);
    seats.forEach(seat -> assertNotEquals(TurnSchedule.NO_GROUP, seat.group()));
    seats.forEach(seat -> assertEquals(groups, seat.groups()));
    for (int size : sizes(seats)) {
      assertTrue(size >= seats.size() / groups, "a small group");
      assertTrue(size <= (seats.size() + groups - 1) / groups, "a large group");
    }
  }

  /** The epoch in which the session was counted ends then, and not before. */
  private void assertEpochEndsAfter(long ns, TurnSchedule.Seat seat) {
    nowNs += ns - 1;
    turns.tick(nowNs);
    assertFalse(turns.isNew(seat));
    nowNs++;
    turns.tick(nowNs);
    assertTrue(turns.isNew(seat));
  }

  @Test
  void asManyAsTheThresholdTakeNoTurns() {
    List<TurnSchedule.Seat> seats = seats(THRESHOLD);
    epoch(seats);
    epoch(seats);
    assertNoGroups(seats);
  }

  @Test
  void oneMoreHasAllOfThemTakeTurns() {
    List<TurnSchedule.Seat> seats = seats(THRESHOLD + 1);
    epoch(seats);
    assertGroups(3, seats);
    assertEquals(
        List.of(0, 1, 2), seats.stream().map(TurnSchedule.Seat::number).distinct().toList());
  }

  @Test
  void epochEndsWhenItIsOverAndNotBefore() {
    List<TurnSchedule.Seat> seats = seats(THRESHOLD + 1);
    use(seats);
    assertEpochEndsAfter(EPOCH_NS, seats.get(0));
  }

  /** Groups last at least so long that everybody had several turns. */
  @Test
  void epochIsFourPeriodsLong() {
    List<TurnSchedule.Seat> seats = seats(12 * GROUP);
    epoch(seats);
    assertGroups(12, seats);
    assertEpochEndsAfter(4 * 12 * LENGTH_NS, seats.get(0));
  }

  @Test
  void sessionsKeepTheirGroups() {
    List<TurnSchedule.Seat> seats = seats(3 * GROUP);
    epoch(seats);
    assertGroups(3, seats);
    List<Integer> before = seats.stream().map(TurnSchedule.Seat::group).toList();
    for (int i = 0; i < 5; i++) {
      epoch(seats);
      use(seats);
      assertEquals(before, seats.stream().map(TurnSchedule.Seat::group).toList());
      seats.forEach(seat -> assertFalse(turns.isOld(seat)));
    }
  }

  @Test
  void whoComesNowAndThenTakesNoTurns() {
    List<TurnSchedule.Seat> steady = seats(3 * GROUP);
    List<TurnSchedule.Seat> rare = seats(1);
    epoch(steady);
    epoch(steady);
    use(rare);
    assertEquals(TurnSchedule.NO_GROUP, rare.get(0).group());
    epoch(steady);
    epoch(steady);
    use(rare);
    assertEquals(TurnSchedule.NO_GROUP, rare.get(0).group());
  }

  @Test
  void whoComesAgainJoinsTheSmallestGroup() {
    List<TurnSchedule.Seat> seats = new ArrayList<>(seats(4 * GROUP));
    epoch(seats);
    assertGroups(4, seats);
    TurnSchedule.Seat gone = seats.remove(2);
    int place = gone.group();
    epoch(seats);
    List<TurnSchedule.Seat> all = new ArrayList<>(seats);
    all.addAll(seats(1));
    epoch(all);
    epoch(all);
    use(all);
    assertEquals(place, all.get(all.size() - 1).group());
    assertTrue(turns.isIdle(gone));
    assertFalse(turns.isIdle(seats.get(0)));
  }

  @Test
  void groupsOfAboutTheRightSizeStay() {
    List<TurnSchedule.Seat> seats = seats(6 * GROUP);
    epoch(seats.subList(0, 4 * GROUP));
    assertGroups(4, seats.subList(0, 4 * GROUP));
    epoch(seats);
    epoch(seats);
    use(seats);
    assertEquals(4, seats.get(0).groups());
    List<TurnSchedule.Seat> more = new ArrayList<>(seats);
    more.addAll(seats(1));
    epoch(more);
    epoch(more);
    assertGroups(7, more);
  }

  @Test
  void turnsAreGivenUpLate() {
    List<TurnSchedule.Seat> seats = seats(THRESHOLD + 1);
    epoch(seats);
    assertGroups(3, seats);
    epoch(seats.subList(0, THRESHOLD - 1));
    use(seats);
    assertNotEquals(TurnSchedule.NO_GROUP, seats.get(0).group());
    epoch(seats.subList(0, THRESHOLD / 4 * 3));
    epoch(seats.subList(0, THRESHOLD / 4 * 3));
    assertNoGroups(seats);
  }

  /** What was long ago says nothing of now. */
  @Test
  void turnsEndWhereNobodyLookedForLong() {
    List<TurnSchedule.Seat> seats = seats(3 * GROUP);
    epoch(seats);
    assertGroups(3, seats);
    nowNs += 2 * EPOCH_NS;
    turns.tick(nowNs);
    assertNoGroups(seats);
  }

  /** A turn is no poller's alone. */
  @Test
  void groupsTakeSomeOfEachPoller() {
    List<TurnSchedule.Seat> seats = seats(4 * GROUP);
    List<Poller> pollers = Stream.generate(this::poller).limit(GROUP).toList();
    for (int epoch = 0; epoch < 2; epoch++) {
      for (int i = 0; i < seats.size(); i++) {
        turns.use(seats.get(i), pollers.get(i / 4));
      }
      nowNs += EPOCH_NS;
      turns.tick(nowNs);
    }
    for (int i = 0; i < GROUP; i++) {
      List<TurnSchedule.Seat> ofOne = seats.subList(4 * i, 4 * i + 4);
      assertEquals(
          4, ofOne.stream().map(TurnSchedule.Seat::group).distinct().count(), "poller " + i);
    }
  }

  @Test
  void periodIsNoLongerThanIsHeeded() {
    context.turnLengthNs(ClientTurn.MAX_PERIOD_NS / 3);
    TurnSchedule slow = new TurnSchedule(context);
    List<TurnSchedule.Seat> seats = seats(100);
    seats.forEach(seat -> slow.use(seat, poller));
    nowNs += (long) TurnSchedule.EPOCH_TURNS * context.turnLengthNs();
    slow.tick(nowNs);
    seats.forEach(seat -> slow.use(seat, poller));
    seats.forEach(seat -> assertEquals(3, seat.groups()));
  }
}

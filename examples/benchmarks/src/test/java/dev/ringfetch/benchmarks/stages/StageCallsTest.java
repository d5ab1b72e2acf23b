package dev.ringfetch.benchmarks.stages;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.examples.load.Lookup;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.index.v1.IndexGrpc;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

final class StageCallsTest {
  /** Remembers which stages have ended. */
  private static final class Recording extends Split {
    final List<Stage> ended = new ArrayList<>();

    @Override
    void ended(Stage stage) {
      ended.add(stage);
      super.ended(stage);
    }
  }

  @Test
  void stagesOfACallEndInTheirOrder() throws IOException {
    final Recording split = new Recording();
    try (StageCalls calls = new StageCalls(split)) {
      split.ended.clear();
      assertTrue(calls.call(Stage.complete) > 0);
      assertEquals(List.of(Stage.values()), split.ended);
    }
  }

  @Test
  void answersAreRightHoweverLongTheCallerPolls() throws IOException {
    try (OneThread thread = new OneThread()) {
      final Lookup lookup = new Lookup(IndexGrpc.newBlockingStub(thread.channel()), 32);
      for (final int rounds : new int[] {0, 3, 0}) {
        thread.idleRounds(rounds);
        lookup.check();
        lookup.check();
      }
    }
  }

  @Test
  void callsThatAreMoreThanTheRingsHoldAreAnswered() throws IOException {
    try (StageCalls calls = new StageCalls()) {
      for (int i = 0; i < 10_000; i++) { // of a slot at least, in rings of 4096
        assertTrue(calls.call(Stage.complete) > 0);
      }
    }
  }

  @Test
  void allocationOfAllStagesIsThatOfTheCall() throws IOException {
    try (StageCalls calls = new StageCalls()) {
      final StageFigures bytes = calls.bytes(200);
      final double all = bytes.sum(false) + bytes.sum(true);
      assertTrue(all >= 500 && all < 20_000, () -> "all=" + all);
      assertTrue(bytes.of(Stage.start) >= 16, "a call is an object");
    }
  }

  @Test
  void roundsAndIdleRoundsTakeTime() throws IOException {
    try (StageCalls calls = new StageCalls()) {
      final StageFigures round = calls.round(50);
      assertTrue(round.sum(false) + round.sum(true) > 0, "a call takes longer than to look twice");
      assertTrue(calls.idle().figure("server") > 0);
    }
  }

  @Test
  void aStageIsWhatASplitIsLongerThanTheOneBefore() {
    final List<Stage> order = List.of(Stage.values());
    final StageFigures figures = StageFigures.of(7, stage -> 10 + 2 * order.indexOf(stage));
    assertEquals(3, figures.of(Stage.stub));
    assertEquals(2, figures.of(Stage.start));
    assertEquals(4, figures.sum(true));
    assertEquals(3 + 2 * (order.size() - 1), figures.sum(false) + figures.sum(true));
    final StageFigures parsed = StageFigures.parse(Answer.parse(figures.answer().toString()));
    assertEquals(figures.of(Stage.stub), parsed.of(Stage.stub));
  }

  @Test
  void theLongestTenthDoesNotCount() {
    final Histogram times = new Histogram(3);
    for (int i = 0; i < 9; i++) {
      times.recordValue(i < 6 ? 10 : 40);
    }
    times.recordValue(1_000_000);
    assertEquals(20, StageCalls.usual(times));
  }

  @Test
  void aSplitThatDoesNotEndIsNoFigure() {
    final Split split = new Split();
    split.begin(Stage.poll);
    split.ended(Stage.write);
    assertThrows(IllegalStateException.class, split::length);
    split.ended(Stage.poll);
    assertTrue(split.length() >= 0);
  }
}

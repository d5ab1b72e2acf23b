package dev.ringfetch.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.examples.load.Spread;
import dev.ringfetch.examples.process.Answer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class IndexLogTest {
  @TempDir Path directory;

  private static Answer round(double p50) {
    return new Answer()
        .with("wrong", 0)
        .with("p50", p50)
        .with("p99", 9)
        .with("perSecond", 1e6 / p50);
  }

  @Test
  void anInterruptedRunGoesOnWithWholeRounds() throws IOException {
    try (IndexLog log = IndexLog.open(directory, false, "millis=1")) {
      log.add(IndexRow.get, "redis", round(40));
      log.add(IndexRow.get, "redis", round(50));
      assertTrue(refusal(true, "millis=1").contains("in use"));
    }
    Files.writeString(
        directory.resolve("rounds.log"), "get\tredis\twrong=0\tp5", StandardOpenOption.APPEND);
    assertTrue(refusal(false, "millis=1").contains("--resume goes on"));
    assertTrue(refusal(true, "millis=2").contains("other settings: millis=1"));
    try (IndexLog log = IndexLog.open(directory, true, "millis=1")) {
      assertEquals(
          List.of(40.0, 50.0),
          log.rounds(IndexRow.get, "redis").stream().map(r -> r.figure("p50")).toList());
      log.add(IndexRow.get, "redis", round(60));
    }
    try (IndexLog log = IndexLog.open(directory, true, "millis=1")) {
      assertEquals(3, log.rounds(IndexRow.get, "redis").size());
    }
  }

  private String refusal(boolean resume, String settings) {
    return assertThrows(
            IllegalArgumentException.class, () -> IndexLog.open(directory, resume, settings))
        .getMessage();
  }

  /** By round, as each of them has had its turn in it. */
  @Test
  void goalsAreComparedRoundByRound() throws IOException {
    try (IndexLog log = IndexLog.open(directory, false, "")) {
      for (final double echo : new double[] {2, 4, 3}) {
        log.add(IndexRow.get, StoreSide.echo.text(), round(echo));
        log.add(IndexRow.get, StoreSide.ringfetch.text(), round(echo * 1.25));
      }
      log.add(IndexRow.get, StoreSide.redis.text(), round(60));
      final List<IndexGoal> goals = IndexGoal.of(log);
      assertEquals(3, goals.size(), goals::toString); // p50 and p99 by the echo, and p50 by Redis
      assertEquals(new Spread(1.25, 1.25, 1.25), goals.get(0).measured());
      assertTrue(goals.get(0).isReached());
      assertEquals(
          "RESULT goal=get-p50-of-redis-by-ringfetch unit=ratio median=24.000 least=24.000"
              + " most=24.000 at_least=40.000 reached=no",
          goals.get(2).result());
    }
  }
}

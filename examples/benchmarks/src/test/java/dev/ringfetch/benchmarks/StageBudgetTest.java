package dev.ringfetch.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.benchmarks.stages.Stage;
import dev.ringfetch.benchmarks.stages.StageFigures;
import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.process.Answer;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

final class StageBudgetTest {
  private static StageFigures stages(double each) {
    final Answer answer = new Answer();
    for (final Stage stage : Stage.values()) {
      answer.with(stage.name(), each);
    }
    return StageFigures.parse(answer);
  }

  private static Figures figures(double p50Us) {
    return new Figures(1, p50Us, p50Us, p50Us, 1);
  }

  private static StageBudget budget() {
    return new StageBudget(
        List.of(stages(10), stages(30), stages(20)),
        stages(8),
        List.of(figures(0.1), figures(0.3), figures(0.2)),
        List.of(figures(1), figures(2), figures(1.5)),
        80,
        70);
  }

  @Test
  void whatIsNotExplainedIsFoundRoundByRound() {
    final StageBudget budget = budget();
    final int onTheWay = Stage.values().length - 2;
    assertEquals(20 * onTheWay, budget.path().median(), 1e-6);
    assertEquals(200, budget.way().median(), 1e-6);
    assertEquals(1500, budget.whole().median(), 1e-6);
    assertEquals(1000 - 100 - 10 * onTheWay, budget.rest().least(), 1e-6);
    assertEquals(1500 - 200 - 20 * onTheWay, budget.rest().median(), 1e-6);
    assertEquals(2000 - 300 - 30 * onTheWay, budget.rest().most(), 1e-6);
  }

  @Test
  void everyStageHasALineForPeopleAndOneForScripts() {
    final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    budget().print(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    final List<String> lines = bytes.toString(StandardCharsets.UTF_8).lines().toList();
    for (final Stage stage : Stage.values()) {
      assertTrue(
          lines.contains("RESULT stage=" + stage + " of=" + stage.part() + " ns=20.0 bytes=8"));
      assertEquals(1, lines.stream().filter(line -> line.startsWith(stage + " ")).count());
    }
    assertTrue(lines.contains("RESULT stage=whole of=both ns=1500.0 bytes=128"));
  }
}

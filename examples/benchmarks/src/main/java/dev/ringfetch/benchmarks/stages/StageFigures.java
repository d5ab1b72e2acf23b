package dev.ringfetch.benchmarks.stages;

import dev.ringfetch.examples.process.Answer;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** The cost of each stage of a call, in nanoseconds or bytes. */
public final class StageFigures {
  private final Map<Stage, Double> figures;

  private StageFigures(Map<Stage, Double> figures) {
    this.figures = figures;
  }

  /**
   * Computes the stages from splits, each of which begins with the call.
   *
   * @param nothing length of a split that ends where it begins.
   */
  static StageFigures of(double nothing, ToDoubleFunction<Stage> splits) {
    final Map<Stage, Double> figures = new EnumMap<>(Stage.class);
    double before = nothing;
    for (final Stage stage : Stage.values()) {
      final double split = splits.applyAsDouble(stage);
      figures.put(stage, split - before);
      before = split;
    }
    return new StageFigures(figures);
  }

  /** Reads what {@link #answer} made. */
  public static StageFigures parse(Answer answer) {
    final Map<Stage, Double> figures = new EnumMap<>(Stage.class);
    for (final Stage stage : Stage.values()) {
      figures.put(stage, answer.figure(stage.name()));
    }
    return new StageFigures(figures);
  }

  /** As a child process says it. */
  Answer answer() {
    final Answer answer = new Answer();
    figures.forEach((stage, figure) -> answer.with(stage.name(), figure));
    return answer;
  }

  /** Of one stage. */
  public double of(Stage stage) {
    return figures.get(stage);
  }

  /** Of all stages that the call waits for, or of all others. */
  public double sum(boolean hidden) {
    double sum = 0;
    for (final Map.Entry<Stage, Double> figure : figures.entrySet()) {
      if ((figure.getKey().part() == Stage.Part.hidden) == hidden) {
        sum += figure.getValue();
      }
    }
    return sum;
  }
}

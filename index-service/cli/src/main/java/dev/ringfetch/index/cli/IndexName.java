package dev.ringfetch.index.cli;

import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The name of a command's index: an operand, or the option that other commands have. */
final class IndexName {
  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "NAME",
      completionCandidates = Completion.Indexes.class,
      description = "Name of the index.")
  private String operand;

  @Option(
      names = {"-i", IndexOption.INDEX},
      paramLabel = "NAME",
      completionCandidates = Completion.Indexes.class,
      description = "The same.")
  private String option;

  /** The name. */
  String required() {
    if (operand != null && option != null && !operand.equals(option)) {
      throw CommandFailure.misuse("two names of an index are given: " + operand + ", " + option);
    }
    final String name = operand == null ? option : operand;
    if (name == null || name.isEmpty()) {
      throw CommandFailure.misuse("the name of an index is missing");
    }
    return name;
  }

  /** The name, or a default. */
  String orElse(String name) {
    return operand == null && option == null ? name : required();
  }
}

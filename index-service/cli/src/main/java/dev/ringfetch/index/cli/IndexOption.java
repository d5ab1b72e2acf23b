package dev.ringfetch.index.cli;

import picocli.CommandLine.Option;

/** The option of an index's name. */
final class IndexOption {
  static final String INDEX = "--index";

  @Option(
      names = {"-i", INDEX},
      order = 51,
      paramLabel = "NAME",
      completionCandidates = Completion.Indexes.class,
      description = "Name of the index; RINGFETCH_INDEX, or default.")
  private String name;

  /** The name; by default that of the session. */
  String name(Session session) {
    final String used = name == null ? session.defaultOf(INDEX) : name;
    if (used.isEmpty()) {
      throw CommandFailure.misuse("--index: the name of an index is not empty");
    }
    return used;
  }
}

package dev.ringfetch.index.cli;

import picocli.CommandLine.Option;

/** The option of an index's name. */
final class IndexOption {
  static final String INDEX = "--index";

  @Option(
      names = {"-i", INDEX}, order = 51,
      paramLabel = "NAME",
      description = "Name of the index; RINGFETCH_INDEX, or default.")
  private String name;

  String name() {
    if (name.isEmpty()) {
      throw CommandFailure.misuse("--index: the name of an index is not empty");
    }
    return name;
  }
}

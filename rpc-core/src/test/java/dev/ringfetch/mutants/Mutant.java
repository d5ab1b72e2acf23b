package dev.ringfetch.mutants;

import java.util.List;

/**
 * One change to one source file, which some test must notice.
 *
 * @param id that names it in files and on the command line.
 * @param path of the file below the source folder.
 * @param line in that file, for people.
 * @param start of the text that is replaced, an index into the file.
 * @param end of that text.
 * @param before the text that is replaced.
 * @param after what it is replaced with.
 * @param suites simple names of the suites that are run on it; empty for all.
 */
record Mutant(
    String id,
    String path,
    int line,
    int start,
    int end,
    String before,
    String after,
    List<String> suites) {

  /** The file with this change. */
  String apply(String source) {
    return source.substring(0, start) + after + source.substring(end);
  }

  /** What changes, on one line. */
  String change() {
    return flat(before) + " -> " + (after.isBlank() ? "nothing" : flat(after));
  }

  /** What kind of change it is; of those by hand, the id. */
  String kind() {
    final String[] names = id.split("\\.", -1);
    return names[Math.max(0, names.length - 2)];
  }

  /** The simple name of the file's class. */
  String className() {
    return path.substring(path.lastIndexOf('/') + 1, path.length() - ".java".length());
  }

  @Override
  public String toString() {
    return id + " (" + className() + ".java:" + line + "): " + change();
  }

  /** A text with every run of white space as one space. */
  static String flat(String text) {
    return text.strip().replaceAll("\\s+", " ");
  }

  /** The number of the line that an index lies in. */
  static int lineOf(String source, int index) {
    return 1 + (int) source.substring(0, index).chars().filter(c -> c == '\n').count();
  }
}

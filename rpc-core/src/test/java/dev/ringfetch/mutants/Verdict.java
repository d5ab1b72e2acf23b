package dev.ringfetch.mutants;

/**
 * What a suite said of a mutant.
 *
 * @param outcome of the suite.
 * @param test that failed or hung, or how many passed.
 * @param message why, on one line.
 * @param cpuNs processor time that it took.
 * @param threads that run in the worker afterwards.
 */
record Verdict(Outcome outcome, String test, String message, long cpuNs, int threads) {
  /** How a suite ended. */
  enum Outcome {
    /** Every test passed. */
    PASSED,
    /** A test failed. */
    FAILED,
    /** A test used far more time than on the unbroken code. */
    TIMED_OUT,
    /** There was no test to run. */
    EMPTY,
    /** The JVM ended. */
    DIED
  }

  /** As one line. */
  String encode() {
    return String.join(
        "\t", outcome.name(), test, message, Long.toString(cpuNs), Integer.toString(threads));
  }

  static Verdict decode(String line) {
    final String[] fields = line.split("\t", -1);
    return new Verdict(
        Outcome.valueOf(fields[0]),
        fields[1],
        fields[2],
        Long.parseLong(fields[3]),
        Integer.parseInt(fields[4]));
  }
}

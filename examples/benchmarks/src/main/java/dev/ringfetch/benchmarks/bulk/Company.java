package dev.ringfetch.benchmarks.bulk;

/** The upload that shares the channel of small calls. */
public enum Company {
  /** Nobody. */
  none("nothing"),
  /** An upload by the thread that issues the small calls. */
  oneThread("upload, same thread"),
  /** An upload by another thread. */
  twoThreads("upload, other thread");

  private final String text;

  Company(String text) {
    this.text = text;
  }

  /** For people. */
  public String text() {
    return text;
  }
}

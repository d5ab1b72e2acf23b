package dev.ringfetch.session;

/** A stream of its own, outside of any session. */
public final class TestStream extends Stream {
  TestStream(int id) {
    this.id = id;
  }

  @Override
  public String toString() {
    return "stream " + id + " deadline " + deadlineNs;
  }
}

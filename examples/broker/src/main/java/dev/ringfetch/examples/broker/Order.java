package dev.ringfetch.examples.broker;

/**
 * The value of a record of the demo.
 *
 * @param sequence among those of the producer, from 1.
 * @param sentNs time of the send, of this machine's monotonic clock.
 */
record Order(String producer, long sequence, long sentNs) {
  String text() {
    return producer + " " + sequence + " " + sentNs;
  }

  static Order parse(String text) {
    final String[] words = text.split(" ", 0);
    return new Order(words[0], Long.parseLong(words[1]), Long.parseLong(words[2]));
  }
}

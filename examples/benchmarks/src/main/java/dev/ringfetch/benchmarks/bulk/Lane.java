package dev.ringfetch.benchmarks.bulk;

/** Memory of two processes that takes messages one way, for one sender and one receiver. */
interface Lane {
  /** What {@link #receive} returns at the end. */
  int END = -1;

  /** Empties the memory: the receiver, before the sender comes. */
  void prepare();

  /** Copies a message in; waits for room. */
  void send(byte[] message);

  /** Tells the receiver that nothing follows. */
  void end();

  /** Waits for the next message and copies it out; its length, or {@link #END}. */
  int receive(byte[] target);
}

package dev.ringfetch.benchmarks.bulk;

import dev.ringfetch.examples.process.Answer;

/**
 * The messages and bytes of a transfer, and its time from the first message sent to the last one
 * received.
 *
 * @param messages how many.
 * @param bytes of payload.
 * @param elapsedNs the time.
 */
public record Transfer(long messages, long bytes, long elapsedNs) {
  /** Reads what {@link #answer} made. */
  public static Transfer parse(Answer answer) {
    return new Transfer(answer.count("messages"), answer.count("bytes"), answer.count("elapsedNs"));
  }

  /** As a child process says it. */
  public Answer answer() {
    return new Answer()
        .with("messages", messages)
        .with("bytes", bytes)
        .with("elapsedNs", elapsedNs);
  }

  /** Payload in a second, in units of a thousand million bytes. */
  public double gigabytesPerSecond() {
    return (double) bytes / elapsedNs;
  }

  /** Throws unless the receiver counted as much as was sent. */
  Transfer checked(long messagesReceived, long bytesReceived) {
    if (messagesReceived != messages || bytesReceived != bytes) {
      throw new IllegalStateException(
          "received "
              + messagesReceived
              + " messages of "
              + bytesReceived
              + " bytes, and not what was sent: "
              + this);
    }
    return this;
  }
}

package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.protocol.Message;
import dev.ringfetch.session.handshake.ControlStream;
import java.util.ArrayDeque;
import java.util.Base64;
import java.util.Deque;

/**
 * The steps that one side of a handshake sends. The parent process carries them to the other side:
 * commands and answers of the processes take the place of a stream.
 */
final class HandshakeSteps<T extends Message<T>> implements ControlStream<T> {
  private static final String STEP = "step";

  private final Deque<T> said = new ArrayDeque<>();

  @Override
  public synchronized void send(T step) {
    said.add(step);
  }

  @Override
  public void close() {
    // The parent process stops to carry steps when there is a session.
  }

  @Override
  public void exhausted(String reason) {
    throw new IllegalStateException(reason);
  }

  @Override
  public void expired(String reason) {
    throw new IllegalStateException(reason);
  }

  /** The next step, for the other side; fails if there is none. */
  synchronized Answer take() {
    return new Answer().with(STEP, Base64.getEncoder().encodeToString(said.remove().encode()));
  }

  /** What {@link #take} has taken, as the argument of a command. */
  static String carried(Answer answer) {
    return answer.text(STEP);
  }

  /** The bytes of a step that was carried here. */
  static byte[] bytes(String carried) {
    return Base64.getDecoder().decode(carried);
  }
}

package dev.ringfetch.examples.verbs;

import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.process.Answer;
import java.util.function.Supplier;

/**
 * The result of one round.
 *
 * @param figures of the calls.
 * @param client work requests of the client.
 * @param server work requests of the server.
 * @param torn answers that a READ took before they were whole, and took again.
 */
public record VerbsRound(Figures figures, WorkRequests client, WorkRequests server, long torn) {
  /** A round of a peer that posts no work requests. */
  public static VerbsRound without(Figures figures) {
    return new VerbsRound(figures, WorkRequests.NONE, WorkRequests.NONE, 0);
  }

  /**
   * Measures one.
   *
   * @param posted reads the work requests of the server's process so far.
   * @param calls makes the client's process issue calls.
   */
  public static VerbsRound measure(Supplier<Answer> posted, Supplier<Answer> calls) {
    final WorkRequests before = WorkRequests.parse(posted.get());
    final Answer called = calls.get();
    return parse(called, WorkRequests.parse(posted.get()).since(before).addTo(new Answer()));
  }

  /** Reads the answers of the two processes. */
  static VerbsRound parse(Answer client, Answer server) {
    return new VerbsRound(
        Figures.parse(client),
        WorkRequests.parse(client),
        WorkRequests.parse(server),
        client.count("torn"));
  }
}

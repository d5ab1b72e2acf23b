package dev.ringfetch.examples.quickstart;

import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.verbs.VerbsRound;
import dev.ringfetch.examples.verbs.WorkRequests;
import java.util.List;

/**
 * The results of one contender's rounds.
 *
 * @param figures medians of the rounds.
 * @param client work requests of the client in all of them.
 * @param server work requests of the server in all of them.
 */
record Row(Figures figures, WorkRequests client, WorkRequests server) {
  static Row of(List<VerbsRound> rounds) {
    return new Row(
        Figures.median(rounds.stream().map(VerbsRound::figures).toList()),
        rounds.stream().map(VerbsRound::client).reduce(WorkRequests.NONE, WorkRequests::plus),
        rounds.stream().map(VerbsRound::server).reduce(WorkRequests.NONE, WorkRequests::plus));
  }
}

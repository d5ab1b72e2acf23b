package dev.ringfetch.benchmarks.bulk;

import dev.ringfetch.examples.load.AllocatedBytes;
import dev.ringfetch.examples.load.Latencies;
import dev.ringfetch.examples.load.Stopwatch;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;

/** One end of two lanes: makes calls or answers them on command. */
final class EchoEnd {
  /** Longest answer that takes the lane for short ones, in bytes. */
  static final int MAX_SHORT = 64 * 1024;

  /** Longest answer, in bytes. */
  static final int MAX_PAYLOAD = 1024 * 1024;

  /** Length of a request, in bytes. */
  static final int REQUEST = 32;

  private final byte[] request = new byte[REQUEST];
  private final Stopwatch stopwatch = new Stopwatch();
  private final Latencies latencies = new Latencies();
  private final Lane requests;
  private final Lane answers;
  private final Lane longAnswers;

  /** An end with a lane of its own for long answers: it is larger than caches like. */
  EchoEnd(Lane requests, Lane answers, Lane longAnswers) {
    this.requests = requests;
    this.answers = answers;
    this.longAnswers = longAnswers;
  }

  /** Adds the commands of a child process for the rounds of an {@link EchoPair}. */
  CommandLoop addTo(CommandLoop loop) {
    return latencies
        .addTo(loop)
        .on("echo", arguments -> echo(new byte[Integer.parseInt(arguments.get(0))]))
        .on(
            "round",
            arguments ->
                round(
                    new byte[Integer.parseInt(arguments.get(0))],
                    Integer.parseInt(arguments.get(1)),
                    Long.parseLong(arguments.get(2))))
        .on("allocated", arguments -> AllocatedBytes.answer());
  }

  private Lane lane(byte[] answer) {
    return answer.length <= MAX_SHORT ? answers : longAnswers;
  }

  /** Answers until the other end has ended. */
  private Answer echo(byte[] answer) {
    final Lane lane = lane(answer);
    while (requests.receive(request) != Lane.END) {
      answer[0] = request[0];
      lane.send(answer);
    }
    return new Answer();
  }

  private Answer round(byte[] answer, int inFlight, long millis) {
    final Lane lane = lane(answer);
    if (inFlight > 1) {
      final EchoesInFlight echoes = new EchoesInFlight(requests, lane, request, answer, inFlight);
      final Answer figures = echoes.runFor(millis).answer();
      requests.end();
      latencies.keep(echoes.latencies());
      return figures;
    }
    final Answer figures = stopwatch.runFor(() -> ask(lane, answer), millis).answer();
    requests.end();
    latencies.keep(stopwatch.latencies());
    return figures;
  }

  /** One call, unlike the one before. */
  private void ask(Lane lane, byte[] answer) {
    request[0]++;
    requests.send(request);
    if (lane.receive(answer) != answer.length || answer[0] != request[0]) {
      throw new IllegalStateException("not what was asked");
    }
  }
}

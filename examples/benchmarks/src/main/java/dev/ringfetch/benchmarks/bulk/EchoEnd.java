package dev.ringfetch.benchmarks.bulk;

import dev.ringfetch.examples.load.AllocatedBytes;
import dev.ringfetch.examples.load.Stopwatch;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;

/** One end of two lanes: makes calls or answers them when asked to. */
final class EchoEnd {
  /** Longest answer, in bytes. */
  static final int MAX_PAYLOAD = 64 * 1024;

  /** Length of a request, in bytes. */
  static final int REQUEST = 32;

  private final byte[] request = new byte[REQUEST];
  private final Stopwatch stopwatch = new Stopwatch();
  private final Lane requests;
  private final Lane answers;

  EchoEnd(Lane requests, Lane answers) {
    this.requests = requests;
    this.answers = answers;
  }

  /** Has a child process take part in the rounds of an {@link EchoPair}. */
  CommandLoop addTo(CommandLoop loop) {
    return loop.on("echo", arguments -> echo(new byte[Integer.parseInt(arguments.get(0))]))
        .on(
            "round",
            arguments ->
                round(
                    new byte[Integer.parseInt(arguments.get(0))], Long.parseLong(arguments.get(1))))
        .on("allocated", arguments -> AllocatedBytes.answer());
  }

  /** Answers until the other end has ended. */
  private Answer echo(byte[] answer) {
    while (requests.receive(request) != Lane.END) {
      answer[0] = request[0];
      answers.send(answer);
    }
    return new Answer();
  }

  private Answer round(byte[] answer, long millis) {
    final Answer figures = stopwatch.runFor(() -> ask(answer), millis).answer();
    requests.end();
    return figures;
  }

  /** One call, unlike the one before. */
  private void ask(byte[] answer) {
    request[0]++;
    requests.send(request);
    if (answers.receive(answer) != answer.length || answer[0] != request[0]) {
      throw new IllegalStateException("not what was asked");
    }
  }
}

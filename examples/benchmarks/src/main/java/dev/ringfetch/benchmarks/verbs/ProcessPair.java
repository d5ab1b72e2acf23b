package dev.ringfetch.benchmarks.verbs;

import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildFailure;
import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.rdma.verbs.BareMode;
import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * Two processes that understand the same commands: the server {@code port}, {@code accept} and
 * {@code serve}, the client {@code ready}, {@code connect} and {@code round}.
 */
public final class ProcessPair implements VerbsContender {
  private final ChildProcess server;
  private final ChildProcess client;
  private final boolean stopsBetween; // rounds

  private ProcessPair(ChildProcess server, ChildProcess client, boolean stopsBetween) {
    this.server = server;
    this.client = client;
    this.stopsBetween = stopsBetween;
  }

  /** Verbs alone, with no program between them and the benchmark. */
  public static ProcessPair bare(BareMode mode, InetAddress host, List<String> flags)
      throws IOException {
    return start(
        host,
        flags,
        BareServerProcess.class,
        BareClientProcess.class,
        List.of("--mode", mode.name()),
        false);
  }

  /**
   * DaRPC, whose threads poll for ever: both processes are stopped while others have their turn.
   */
  public static ProcessPair darpc(InetAddress host, List<String> flags) throws IOException {
    return start(host, flags, DarpcServerProcess.class, DarpcClientProcess.class, List.of(), true);
  }

  private static ProcessPair start(
      InetAddress host,
      List<String> flags,
      Class<?> serverMain,
      Class<?> clientMain,
      List<String> clientArguments,
      boolean stopsBetween)
      throws IOException {
    final List<String> arguments = List.of("--address", host.getHostAddress());
    final List<String> ofClient = new ArrayList<>(arguments);
    ofClient.addAll(clientArguments);
    final ChildProcess server = ChildProcess.start(flags, serverMain, arguments);
    final ChildProcess client;
    try {
      client = ChildProcess.start(flags, clientMain, ofClient);
    } catch (IOException e) {
      server.close();
      throw e;
    }
    final ProcessPair pair = new ProcessPair(server, client, stopsBetween);
    try {
      pair.connect();
      return pair;
    } catch (ChildFailure e) {
      try {
        pair.close();
      } catch (ChildFailure late) {
        e.addSuppressed(late);
      }
      throw e;
    }
  }

  private void connect() {
    final long port = server.ask("port").count("port");
    client.ask("ready"); // from here on the server does not wait for long
    final CompletableFuture<Answer> accepted = askServer("accept");
    client.ask("connect", port);
    final Answer unused = await(accepted);
  }

  @Override
  public VerbsRound round(int millis) {
    if (stopsBetween) {
      server.goOn();
      client.goOn();
    }
    final CompletableFuture<Answer> served = askServer("serve");
    final Answer called = client.ask("round", millis);
    final VerbsRound round = VerbsRound.parse(called, await(served));
    if (stopsBetween) {
      client.stop();
      server.stop();
    }
    return round;
  }

  @Override
  public ChildProcess client() {
    return client;
  }

  @Override
  public ChildProcess server() {
    return server;
  }

  private CompletableFuture<Answer> askServer(String command) {
    return CompletableFuture.supplyAsync(() -> server.ask(command));
  }

  /** The server's answer, or its own failure. */
  private static Answer await(CompletableFuture<Answer> answer) {
    try {
      return answer.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof ChildFailure failure) {
        throw failure;
      }
      throw e;
    }
  }

  @Override
  public void close() {
    try {
      client.close();
    } finally {
      server.close();
    }
  }
}

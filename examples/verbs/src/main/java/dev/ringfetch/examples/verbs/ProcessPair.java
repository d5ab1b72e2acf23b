package dev.ringfetch.examples.verbs;

import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildFailure;
import dev.ringfetch.examples.process.ChildProcess;
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

  /**
   * The programs of a pair.
   *
   * @param server class with the main method of the server process.
   * @param client class with the main method of the client process.
   * @param clientArguments of the client alone, beside the address that both get.
   * @param stopsBetween whether both processes are stopped while others have their turn.
   */
  public record Programs(
      Class<?> server, Class<?> client, List<String> clientArguments, boolean stopsBetween) {}

  /** Verbs alone, with no program between them and the benchmark. */
  public static ProcessPair bare(BareMode mode, InetAddress host, List<String> flags)
      throws IOException {
    return start(
        new Programs(
            BareServerProcess.class,
            BareClientProcess.class,
            List.of("--mode", mode.name()),
            false),
        host,
        flags);
  }

  /**
   * Starts both programs and connects them.
   *
   * @param host address of an RDMA device.
   * @param flags of both virtual machines.
   */
  public static ProcessPair start(Programs programs, InetAddress host, List<String> flags)
      throws IOException {
    final List<String> arguments = List.of("--address", host.getHostAddress());
    final List<String> ofClient = new ArrayList<>(arguments);
    ofClient.addAll(programs.clientArguments());
    final ChildProcess server = ChildProcess.start(flags, programs.server(), arguments);
    final ChildProcess client;
    try {
      client = ChildProcess.start(flags, programs.client(), ofClient);
    } catch (IOException e) {
      server.close();
      throw e;
    }
    final ProcessPair pair = new ProcessPair(server, client, programs.stopsBetween());
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

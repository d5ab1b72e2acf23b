package dev.ringfetch.examples.quickstart;

import dev.ringfetch.examples.load.ProcessUse;
import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.examples.process.Rings;
import dev.ringfetch.examples.verbs.WorkRequests;
import dev.ringfetch.index.IndexServer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The index server, in a process of its own, on a port that was free. */
final class IndexServerProcess implements AutoCloseable {
  private static final Pattern PORT = Pattern.compile("\\bport (\\d+)");

  /** Exit code of the JVM after SIGTERM: 128 and the signal's number. */
  private static final int TERMINATED = 143;

  private final ChildProcess process;
  private final String host;
  private final int port;
  private boolean ended;

  private IndexServerProcess(ChildProcess process, String host, int port) {
    this.process = process;
    this.host = host;
    this.port = port;
  }

  /**
   * Starts a server and waits until it listens.
   *
   * @param direct whether handlers run on the threads of the transport.
   * @param host by which clients reach it.
   */
  static IndexServerProcess start(boolean direct, String host, Rings rings) throws IOException {
    return start(direct ? List.of("--port", "0", "--direct") : List.of("--port", "0"), host, rings);
  }

  /**
   * Starts a server and waits until it listens.
   *
   * @param options of the server, beside those of its rings.
   * @param host by which clients reach it.
   */
  static IndexServerProcess start(List<String> options, String host, Rings rings)
      throws IOException {
    final List<String> arguments = new ArrayList<>(rings.serverArguments());
    arguments.addAll(List.of("--bind", host));
    arguments.addAll(options);
    final ChildProcess process = ChildProcess.start(List.of(), ServedIndex.class, arguments);
    final String line = process.readLine();
    final Matcher port = PORT.matcher(line);
    if (!port.find()) {
      process.terminate();
      throw new IllegalStateException("no port in what the index server says: " + line);
    }
    String rest;
    do { // what comes later is an answer
      rest = process.readLine();
    } while (!rest.startsWith(IndexServer.ADDRESSES));
    return new IndexServerProcess(process, host, Integer.parseInt(port.group(1)));
  }

  /** Where it listens. */
  int port() {
    return port;
  }

  /** The target that clients connect to. */
  String target() {
    return host + ":" + port;
  }

  /** Id of the process. */
  long pid() {
    return process.pid();
  }

  /** Work requests that its rings have posted so far. */
  WorkRequests posted() {
    return WorkRequests.parse(process.ask("posted"));
  }

  /** Processor time in nanoseconds. */
  long cpuNs() throws IOException {
    return ProcessUse.of(pid()).cpuNs();
  }

  /** Sends SIGKILL and waits for the end: no handler of the server runs. */
  void kill() {
    ended = true;
    process.kill();
  }

  /** Sends SIGTERM and waits; returns whether the server ended as it should. */
  boolean stop() {
    ended = true;
    return process.terminate() == TERMINATED;
  }

  @Override
  public void close() {
    if (!ended) {
      stop();
    }
  }
}

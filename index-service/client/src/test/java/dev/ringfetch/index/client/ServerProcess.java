package dev.ringfetch.index.client;

import dev.ringfetch.index.IndexServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** An index server as a child process. */
final class ServerProcess implements AutoCloseable {
  private static final Pattern LISTENING = Pattern.compile("index server listening on port (\\d+)");

  private final Process process;
  private final int port;

  private ServerProcess(Process process, int port) {
    this.process = process;
    this.port = port;
  }

  /** Starts a server whose indexes are on the disk, also after a kill. */
  static ServerProcess startOnDisk(Path shmDirectory, Path data, int port) throws IOException {
    return start(
        shmDirectory, port, "--data=" + data, "--durability=disk", "--takeover", "--memory=64m");
  }

  /** Starts the program and waits until it serves. */
  static ServerProcess start(Path shmDirectory, int port, String... more) throws IOException {
    final List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(IndexServer.class.getName());
    command.addAll(List.of("--port", "" + port, "--shm-directory", shmDirectory.toString()));
    command.addAll(List.of(more));
    final Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    final BufferedReader out = process.inputReader();
    String line = out.readLine();
    while (line != null && line.startsWith("recovering: ")) { // where a start takes long
      line = out.readLine();
    }
    final Matcher matcher = LISTENING.matcher(String.valueOf(line));
    if (!matcher.matches()) {
      process.destroyForcibly();
      throw new AssertionError("instead of the line with the port: " + line);
    }
    return new ServerProcess(process, Integer.parseInt(matcher.group(1)));
  }

  int port() {
    return port;
  }

  /** Kills it, and waits for its end. */
  void kill() throws InterruptedException {
    process.destroyForcibly();
    if (!process.waitFor(30, TimeUnit.SECONDS)) {
      throw new AssertionError("still alive");
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}

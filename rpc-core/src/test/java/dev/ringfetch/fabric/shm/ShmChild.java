package dev.ringfetch.fabric.shm;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ringfetch.fabric.Doorbell;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricHarness;
import dev.ringfetch.fabric.QueuePair;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Another process: {@link #start} runs {@link #main} in a JVM of its own. */
final class ShmChild implements AutoCloseable {
  static final byte[] TOKEN = Arrays.copyOf("child".getBytes(UTF_8), 16);

  private static final long LINGER_S = 30;

  private final Process process;
  private final BufferedReader output;

  private ShmChild(Process process) {
    this.process = process;
    this.output = process.inputReader(UTF_8);
  }

  /** Starts a child that does what {@link #main} says for the task. */
  static ShmChild start(Path directory, String task) throws IOException {
    return new ShmChild(
        new ProcessBuilder(command(directory, task))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start());
  }

  /** Starts a child in a mount namespace of its own, after a shell command. */
  static ShmChild startAfter(String shellCommand, Path directory, String task) throws IOException {
    return startShell(List.of("unshare", "-m"), shellCommand, directory, task);
  }

  /** Starts a child under a limit that a shell command sets. */
  static ShmChild startLimited(String shellCommand, Path directory, String task)
      throws IOException {
    return startShell(List.of(), shellCommand, directory, task);
  }

  private static ShmChild startShell(
      List<String> prefix, String shellCommand, Path directory, String task) throws IOException {
    List<String> command = new ArrayList<>(prefix);
    command.addAll(List.of("sh", "-c", shellCommand + " && exec \"$@\"", "child"));
    command.addAll(command(directory, task));
    return new ShmChild(
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
  }

  private static List<String> command(Path directory, String task) {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-ea",
        "-cp",
        System.getProperty("java.class.path"),
        ShmChild.class.getName(),
        directory.toString(),
        task);
  }

  String readLine() throws IOException {
    String line = output.readLine();
    if (line == null) {
      throw new IOException("the child has said nothing more");
    }
    return line;
  }

  void say(String line) throws IOException {
    process.outputWriter(UTF_8).append(line).append('\n').flush();
  }

  int exitCode() throws InterruptedException {
    if (!process.waitFor(LINGER_S, TimeUnit.SECONDS)) {
      throw new AssertionError("the child does not end");
    }
    return process.exitValue();
  }

  /** As {@code kill -9}. */
  void kill() throws InterruptedException {
    process.destroyForcibly();
    exitCode();
  }

  @Override
  public void close() {
    process.destroyForcibly().onExit().join();
  }

  /** Does a task (the second argument) on a fabric in a directory (the first). */
  public static void main(String[] args) throws IOException {
    Fabric fabric = new ShmProvider().open(new FabricContext().directory(Path.of(args[0])));
    Doorbell doorbell = fabric.openDoorbell();
    switch (args[1]) {
      case "serve" -> serve(fabric, doorbell);
      case "serve-without-descriptors" -> serveWithoutDescriptors(fabric, doorbell);
      case "fill" -> fill(fabric, doorbell);
      case "churn" -> churn(Path.of(args[0]));
      case "sweep" -> fabric.close();
      default -> throw new IllegalArgumentException("task=" + args[1]);
    }
  }

  private static Fabric.Offer offer(Fabric fabric, Doorbell doorbell) throws IOException {
    return fabric.offer(
        doorbell,
        fabric.hint(),
        FabricHarness.LENGTH,
        TOKEN,
        queuePair -> queuePair.bind(new FabricHarness.Told()));
  }

  /** Offers memory, says where, and serves until it is killed. */
  private static void serve(Fabric fabric, Doorbell doorbell) throws IOException {
    System.out.println(HexFormat.of().formatHex(offer(fabric, doorbell).descriptor()));
    while (true) {
      doorbell.await(Doorbell.FOREVER);
    }
  }

  /** Says how often it woke in half a second in which it could not accept, then serves. */
  private static void serveWithoutDescriptors(Fabric fabric, Doorbell doorbell) throws IOException {
    Fabric.Offer offer = offer(fabric, doorbell);
    // Whatever has to be loaded and opened for the first time is, before descriptors run out.
    doorbell.poll();
    System.out.println(HexFormat.of().formatHex(offer.descriptor()));
    System.in.read();
    Deque<FileChannel> hoard = new ArrayDeque<>();
    try {
      while (true) {
        hoard.add(FileChannel.open(Path.of("/dev/null")));
      }
    } catch (IOException e) {
      System.out.println(e.getMessage());
    }
    // The parent connects now.
    System.in.read();
    long startNs = System.nanoTime();
    int wakes = 0;
    while (System.nanoTime() - startNs < TimeUnit.MILLISECONDS.toNanos(500)) {
      doorbell.await(TimeUnit.MILLISECONDS.toNanos(500));
      wakes++;
    }
    for (FileChannel channel : hoard) {
      channel.close();
    }
    System.out.println(wakes);
    while (true) {
      doorbell.await(Doorbell.FOREVER);
    }
  }

  /** Offers until nothing is to be had, and says why; what was had can be used. */
  private static void fill(Fabric fabric, Doorbell doorbell) {
    List<Fabric.Offer> offers = new ArrayList<>();
    try {
      while (offers.size() < 1000) {
        offers.add(offer(fabric, doorbell));
      }
    } catch (IOException e) {
      System.out.println(offers.size() + " " + e.getMessage());
    }
    for (Fabric.Offer offer : offers) {
      for (int i = 0; i < FabricHarness.LENGTH; i += 4096) {
        offer.memory().putLong(i, 1);
      }
    }
    fabric.close();
    System.out.println("closed");
  }

  /** Comes and goes, again and again. */
  private static void churn(Path directory) throws IOException {
    for (int i = 0; i < 50; i++) {
      try (Fabric fabric = new ShmProvider().open(new FabricContext().directory(directory));
          Doorbell doorbell = fabric.openDoorbell();
          Fabric.Offer offer = offer(fabric, doorbell)) {
        offer.memory().putLong(0, i);
        if (i % 10 == 9) {
          // Lets go of nothing: the end of the process does.
          new ShmProvider().open(new FabricContext().directory(directory));
        }
      }
    }
    System.out.println(QueuePair.SUCCESS);
  }
}

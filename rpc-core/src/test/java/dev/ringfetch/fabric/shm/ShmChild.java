package dev.ringfetch.fabric.shm;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ringfetch.fabric.Domain;
import dev.ringfetch.fabric.DomainContext;
import dev.ringfetch.fabric.DomainSegment;
import dev.ringfetch.fabric.Doorbell;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricHarness;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.Rights;
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
    return start(List.of(), directory, task);
  }

  /** Starts a child in a JVM with flags of its own. */
  static ShmChild start(List<String> flags, Path directory, String task) throws IOException {
    return new ShmChild(
        new ProcessBuilder(command(flags, directory, task))
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
    command.addAll(command(List.of(), directory, task));
    return new ShmChild(
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
  }

  private static List<String> command(List<String> flags, Path directory, String task) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-ea");
    command.addAll(flags);
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(ShmChild.class.getName(), directory.toString(), task));
    return command;
  }

  String readLine() throws IOException {
    String line = output.readLine();
    if (line == null) {
      throw new IOException("the child has said nothing more");
    }
    return line;
  }

  /** All that the child says until it ends. */
  List<String> readToEnd() {
    return output.lines().toList();
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
      case "serve-without-descriptors" -> serveWithoutDescriptors(fabric, doorbell, 0);
      case "serve-with-one-descriptor" -> serveWithoutDescriptors(fabric, doorbell, 1);
      case "touch-truncated" -> Truncated.touch(Path.of(args[0]));
      case "serve-truncated" -> Truncated.serve(fabric, doorbell);
      case "fill" -> fill(fabric, doorbell);
      case "churn" -> churn(Path.of(args[0]));
      case "sweep" -> fabric.close();
      case "fill-domain" -> fillDomain(fabric);
      default -> serveDomain(fabric, Path.of(args[0]), args[1]);
    }
  }

  private static void serveDomain(Fabric fabric, Path directory, String task) throws IOException {
    for (Rights rights : Rights.values()) {
      for (String gated : List.of("serve-gated-", "serve-ungated-")) {
        if (task.equals(gated + rights)) {
          DeadDomainsTest.serve(fabric, directory, rights, gated.equals("serve-gated-"));
          return;
        }
      }
    }
    throw new IllegalArgumentException("task=" + task);
  }

  /** Grows a domain until no memory is to be had, and says why; what was had can be used. */
  private static void fillDomain(Fabric fabric) throws IOException {
    Domain domain = fabric.openDomain(new DomainContext());
    List<DomainSegment> segments = new ArrayList<>();
    try {
      while (segments.size() < 1000) {
        segments.add(domain.grow(FabricHarness.LENGTH));
      }
    } catch (IOException e) {
      System.out.println(segments.size() + " " + e.getMessage());
    }
    for (DomainSegment segment : segments) {
      for (int i = 0; i < FabricHarness.LENGTH; i += 4096) {
        segment.region().putLong(i, 1);
      }
    }
    fabric.close();
    System.out.println("closed");
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

  /**
   * Serves a first peer, then says how often it woke in half a second with no more descriptors than
   * told, then serves a second one.
   *
   * <p>With the first peer whatever has to be loaded is, while there are descriptors: a class in a
   * directory takes one.
   */
  private static void serveWithoutDescriptors(Fabric fabric, Doorbell doorbell, int spare)
      throws IOException {
    boolean[] arrived = {false};
    Fabric.Offer first =
        fabric.offer(
            doorbell,
            fabric.hint(),
            FabricHarness.LENGTH,
            TOKEN,
            queuePair -> {
              queuePair.bind(new FabricHarness.Told());
              arrived[0] = true;
            });
    Fabric.Offer second = offer(fabric, doorbell);
    System.out.println(HexFormat.of().formatHex(first.descriptor()));
    System.out.println(HexFormat.of().formatHex(second.descriptor()));
    while (!arrived[0]) {
      doorbell.await(Doorbell.FOREVER);
    }
    System.in.read();
    Deque<FileChannel> hoard = new ArrayDeque<>();
    System.out.println(hoardDescriptors(hoard));
    for (int i = 0; i < spare; i++) {
      hoard.remove().close();
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

  /**
   * Opens files until none can be opened, again and again: threads of the JVM itself hold a
   * descriptor now and then (the compilers look up the memory of their container), and what they
   * give back would be one to spare.
   */
  private static String hoardDescriptors(Deque<FileChannel> hoard) {
    String reason = "";
    long startNs = System.nanoTime();
    while (reason.isEmpty() || System.nanoTime() - startNs < TimeUnit.MILLISECONDS.toNanos(50)) {
      try {
        hoard.add(FileChannel.open(Path.of("/dev/null")));
      } catch (IOException e) {
        reason = e.getMessage();
      }
    }
    return reason;
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

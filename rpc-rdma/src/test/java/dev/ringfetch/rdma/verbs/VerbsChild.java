package dev.ringfetch.rdma.verbs;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ringfetch.fabric.Doorbell;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricHarness;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.rdma.natives.NativeLibrary;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Another process: {@link #start} runs {@link #main} in a JVM of its own. */
final class VerbsChild implements AutoCloseable {
  static final byte[] TOKEN = FabricHarness.token("child");

  private static final long LINGER_S = 60;

  private final Process process;
  private final BufferedReader output;

  private VerbsChild(Process process) {
    this.process = process;
    this.output = process.inputReader(UTF_8);
  }

  /**
   * Starts a child that does what {@link #main} says for the task.
   *
   * @param shell script that executes its arguments.
   */
  static VerbsChild startBy(String shell, String... task) throws IOException {
    List<String> command = new ArrayList<>(List.of("sh", "-c", shell, "child"));
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-ea", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    String library = System.getProperty(NativeLibrary.PROPERTY);
    if (library != null) {
      command.add("-D" + NativeLibrary.PROPERTY + "=" + library);
    }
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(VerbsChild.class.getName());
    command.addAll(List.of(task));
    return new VerbsChild(
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
  }

  static VerbsChild start(String... task) throws IOException {
    return startBy("exec \"$@\"", task);
  }

  String readLine() throws IOException {
    String line = output.readLine();
    if (line == null) {
      throw new IOException("the child has said nothing more");
    }
    return line;
  }

  /** As {@code kill -9}. */
  void kill() throws InterruptedException {
    process.destroyForcibly();
    if (!process.waitFor(LINGER_S, TimeUnit.SECONDS)) {
      throw new AssertionError("the child does not end");
    }
  }

  @Override
  public void close() throws IOException {
    process.destroyForcibly().onExit().join();
    process.getOutputStream().close();
    output.close();
  }

  /** Does a task: the first argument. */
  public static void main(String[] args) throws IOException {
    Fabric fabric = VerbsFabricTest.openVerbs();
    Doorbell doorbell = fabric.openDoorbell();
    switch (args[0]) {
      case "serve" -> serve(fabric, doorbell);
      case "connect" -> connect(fabric, doorbell, HexFormat.of().parseHex(args[1]));
      case "register" -> register(fabric, doorbell, Integer.parseInt(args[1]));
      case "registerBeside" -> registerBeside(fabric, Integer.parseInt(args[1]));
      default -> throw new IllegalArgumentException("task=" + args[0]);
    }
  }

  /** Offers memory, says where, and serves until it is killed. */
  private static void serve(Fabric fabric, Doorbell doorbell) throws IOException {
    Fabric.Offer offer =
        fabric.offer(
            doorbell,
            fabric.hint(),
            FabricHarness.LENGTH,
            TOKEN,
            queuePair -> queuePair.bind(new FabricHarness.Told()));
    System.out.println(HexFormat.of().formatHex(offer.descriptor()));
    while (true) {
      doorbell.await(Doorbell.FOREVER);
    }
  }

  /** Takes an offer, and stays until the other side ends; says why. */
  private static void connect(Fabric fabric, Doorbell doorbell, byte[] descriptor)
      throws IOException {
    QueuePair queuePair = fabric.connect(doorbell, descriptor, TOKEN, FabricHarness.DEADLINE_NS);
    FabricHarness.Told told = new FabricHarness.Told();
    queuePair.bind(told);
    System.out.println(queuePair.peer());
    while (told.ends.isEmpty()) {
      doorbell.await(Doorbell.FOREVER);
    }
    System.out.println(told.ends.get(0));
    fabric.close();
  }

  /** Registers memory beside a session's, and says why it cannot; little is to be had after it. */
  private static void registerBeside(Fabric fabric, int length) throws IOException {
    try (FabricHarness harness = new FabricHarness(fabric, VerbsFabricTest.openVerbs())) {
      QueuePair client = harness.connect("child").client();
      try {
        client.register(length);
        System.out.println("registered");
      } catch (IOException e) {
        System.out.println(e.getMessage());
      }
      client.register(64);
      System.out.println("small");
    }
  }

  /** Offers memory of a length, and says why it cannot; a small offer is to be had after it. */
  private static void register(Fabric fabric, Doorbell doorbell, int length) throws IOException {
    try {
      fabric.offer(doorbell, fabric.hint(), length, TOKEN, queuePair -> {});
      System.out.println("offered");
    } catch (IOException e) {
      System.out.println(e.getMessage());
    }
    fabric.offer(doorbell, fabric.hint(), 64, TOKEN, queuePair -> {});
    System.out.println("small");
    fabric.close();
  }
}

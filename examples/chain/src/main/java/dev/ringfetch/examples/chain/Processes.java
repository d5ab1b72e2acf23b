package dev.ringfetch.examples.chain;

import dev.ringfetch.examples.load.Connection;
import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.load.MachineUse;
import dev.ringfetch.examples.load.ProcessUse;
import dev.ringfetch.examples.load.Side;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.examples.process.Rings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** The processes of a chain, all of one side of the comparison. */
final class Processes implements AutoCloseable {
  private static final double MS_PER_S = 1000;

  private final Map<Part, ChildProcess> processes = new EnumMap<>(Part.class);
  private final Map<Part, String> ports = new EnumMap<>(Part.class);
  private final Side side;
  private final boolean traced;
  private final Pod pod; // null: processes of one container

  private Processes(Side side, boolean traced, Pod pod) {
    this.side = side;
    this.traced = traced;
    this.pod = pod;
  }

  /**
   * Starts the processes, from the end of the chain to its begin, and fills the index.
   *
   * @param pod whose containers they are, or null.
   */
  static Processes start(Side side, boolean traced, Rings rings, Pod pod) throws IOException {
    final Processes chain = new Processes(side, traced, pod);
    boolean started = false;
    try {
      final List<String> arguments = new ArrayList<>(rings.serverArguments());
      arguments.addAll(List.of("--transport", side.name()));
      chain.start(Part.index, IndexProcess.class, arguments);
      for (final Part part : List.of(Part.inventory, Part.pricing, Part.gateway)) {
        arguments.clear();
        arguments.addAll(chain.connection(part, rings));
        arguments.addAll(List.of("--part", part.name()));
        chain.start(part, ServiceProcess.class, arguments);
      }
      chain.start(Part.shopper, ShopperProcess.class, chain.connection(Part.shopper, rings));
      final Answer unused = chain.ask(Part.inventory, "load");
      started = true;
      return chain;
    } finally {
      if (!started) {
        chain.close();
      }
    }
  }

  private List<String> connection(Part caller, Rings rings) {
    return Connection.arguments("localhost:" + ports.get(caller.next()), side, false, rings);
  }

  private void start(Part part, Class<?> main, List<String> arguments) throws IOException {
    final List<String> all = new ArrayList<>(arguments);
    if (traced) {
      all.add("--telemetry");
    }
    final List<String> flags = new ArrayList<>(traced ? Telemetry.FLAGS : List.of());
    if (pod != null) {
      flags.addAll(Pod.FLAGS);
    }
    final ChildProcess process =
        ChildProcess.startBy(pod == null ? List.of() : pod.launcher(), flags, main, all);
    processes.put(part, process);
    if (part != Part.shopper) {
      ports.put(part, process.readLine());
    }
  }

  /** Runs a command in one of the processes. */
  Answer ask(Part part, String command, Object... arguments) {
    return processes.get(part).ask(command, arguments);
  }

  /** True if each caller has made all its calls over the transport of this side. */
  boolean isOfOneTransport() {
    return processes.keySet().stream()
        .filter(part -> part != Part.index)
        .map(part -> ask(part, "describe"))
        .allMatch(
            answer ->
                Boolean.parseBoolean(answer.text("ring")) == (side == Side.ring)
                    && (side == Side.grpc || answer.count("grpcCalls") == 0));
  }

  /** Makes the shopper run a command that makes calls, and measures what the processes use. */
  Round measure(String command, Object... arguments) {
    try {
      final long startNs = System.nanoTime();
      final MachineUse machine = MachineUse.now();
      final ProcessUse own = ProcessUse.of(ProcessHandle.current().pid());
      final Map<Part, ProcessUse> before = uses();
      final Answer answer = ask(Part.shopper, command, arguments);
      final double seconds = (System.nanoTime() - startNs) / Round.NS_PER_S;
      final Map<Part, Double> used = new EnumMap<>(Part.class);
      double sumNs = ProcessUse.of(ProcessHandle.current().pid()).since(own).cpuNs();
      for (final Map.Entry<Part, ProcessUse> use : uses().entrySet()) {
        final double ns = use.getValue().since(before.get(use.getKey())).cpuNs();
        used.put(use.getKey(), ns / Round.NS_PER_S * MS_PER_S / seconds);
        sumNs += ns;
      }
      return new Round(
          Figures.parse(answer),
          answer.count("wrong"),
          used,
          MachineUse.now().since(machine).foreign(sumNs));
    } catch (IOException e) { // the system does not report what processes use
      throw new UncheckedIOException(e);
    }
  }

  private Map<Part, ProcessUse> uses() throws IOException {
    final Map<Part, ProcessUse> uses = new EnumMap<>(Part.class);
    for (final Map.Entry<Part, ChildProcess> process : processes.entrySet()) {
      final ChildProcess child = process.getValue();
      uses.put(process.getKey(), ProcessUse.of(pod == null ? child.pid() : Pod.pid(child)));
    }
    return uses;
  }

  /** Ends the processes, callers first. */
  @Override
  public void close() {
    processes.values().forEach(ChildProcess::close);
  }

  /**
   * A round of calls.
   *
   * @param figures of the shopper's calls.
   * @param wrong answers of the shopper so far.
   * @param used processor time of each process, in milliseconds a second.
   * @param foreign the part of the machine that other processes had, from 0 to 1.
   */
  record Round(Figures figures, long wrong, Map<Part, Double> used, double foreign) {
    private static final double NS_PER_S = 1_000_000_000;

    /** Processor time of all processes, in milliseconds a second. */
    double sum() {
      return used.values().stream().mapToDouble(Double::doubleValue).sum();
    }
  }
}

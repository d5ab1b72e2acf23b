package dev.ringfetch.examples.quickstart;

import com.google.errorprone.annotations.FormatMethod;
import dev.ringfetch.examples.load.Side;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildFailure;
import dev.ringfetch.examples.process.HostAddress;
import dev.ringfetch.examples.process.Rings;
import dev.ringfetch.index.AtLeast;
import dev.ringfetch.index.OptionErrors;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The quickstart program: writes the location of each class of the running JDK to an index server,
 * reads all locations back over a ring and over gRPC, and measures both. Server and clients are
 * processes of their own.
 */
@Command(
    name = "quickstart",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Loads an index with the classes of this JDK; reads it over a ring and gRPC.",
    footer = {
      "",
      "The last line is for scripts. The exit code is 0 only if a ring served and every",
      "entry was read back as written, over the ring and over gRPC."
    })
public final class Quickstart implements Callable<Integer> {
  private static final String SAMPLE = "java.util.concurrent.ConcurrentHashMap";
  private static final int COMPARE_ROUNDS = 4;

  private final PrintStream out = System.out;

  @Option(names = "--keep", description = "Leave the server up until interrupted.")
  private boolean keep;

  @Option(
      names = "--rounds",
      converter = AtLeast.One.class,
      defaultValue = "5",
      description = "Rounds of measuring. Default: ${DEFAULT-VALUE}.")
  private int rounds;

  @Option(
      names = "--calls",
      converter = AtLeast.One.class,
      defaultValue = "20000",
      description = "Calls in a round. Default: ${DEFAULT-VALUE}.")
  private int calls;

  @Option(
      names = "--millis",
      converter = AtLeast.One.class,
      defaultValue = "5000",
      description =
          "Milliseconds after which a round ends all the same. Default: ${DEFAULT-VALUE}.")
  private int millis;

  @Option(
      names = "--warm-up",
      converter = AtLeast.Zero.class,
      defaultValue = "10000",
      description = "Calls before the first round. Default: ${DEFAULT-VALUE}.")
  private int warmUp;

  @Option(
      names = "--entries",
      converter = AtLeast.One.class,
      description = "Classes to load, at the most; fewer suit an emulated machine. Default: all.")
  private int entries = Integer.MAX_VALUE;

  @Mixin private Rings rings;

  @Option(
      names = "--host",
      paramLabel = "NAME",
      description = {
        "By which name or address the clients reach the server. Default: localhost;",
        "with --fabric=verbs an address of a network interface."
      })
  private String host;

  /** Runs it; ends the JVM. */
  public static void main(String[] args) {
    System.exit(OptionErrors.printedFor(new CommandLine(new Quickstart())).execute(args));
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    try (Floor floor = rings.isOver("verbs") && Floor.isThere() ? startFloor() : null) {
      return runBeside(floor);
    } catch (ChildFailure e) {
      System.err.println("quickstart: " + e.getMessage());
      return CommandLine.ExitCode.SOFTWARE;
    }
  }

  /** Measures verbs alone, which also determines how long a ring should poll. */
  private Floor startFloor() throws IOException {
    final Floor floor = Floor.start(rings.replyMode(), HostAddress.ofInterface());
    if (!rings.hasSpinTime()) {
      rings.spinMicros(floor.spinMicros());
      say("rings poll for %d us before they sleep, by what verbs alone take", floor.spinMicros());
    }
    return floor;
  }

  private int runBeside(Floor floor) throws IOException, InterruptedException {
    if (host == null) {
      host = rings.isOver("verbs") ? HostAddress.ofInterface().getHostAddress() : "localhost";
    }
    try (IndexServerProcess server = IndexServerProcess.start(true, host, rings)) {
      say("index server: process %d, port %d", server.pid(), server.port());
      final boolean passed = run(server, floor);
      if (keep) {
        new CountDownLatch(1).await();
      }
      return passed ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    }
  }

  /** Runs all steps; returns whether all succeeded. */
  private boolean run(IndexServerProcess server, Floor floor) throws IOException {
    final Map<Side, Clients.Comparison> compared;
    final Map<Entrant, Row> figures;
    final boolean ringServed;
    final String transport;
    final Table table;
    try (Clients clients = new Clients(server, true, rings, entries)) {
      connect(clients);
      final long startNs = System.nanoTime();
      final Answer loaded = clients.load();
      say(
          "loaded: %,d classes of JDK %s over %s in %.1f s, %,d of them new to the index",
          loaded.count("entries"),
          Runtime.version(),
          transport(clients),
          (System.nanoTime() - startNs) / 1e9,
          loaded.count("created"));
      compared = clients.compare(COMPARE_ROUNDS);
      compared.forEach(
          (side, comparison) ->
              say(
                  "read back over %s: %,d entries, %,d mismatches",
                  side == Side.ring ? "the ring" : "gRPC",
                  comparison.entries(),
                  comparison.mismatches()));
      sample(clients);
      say("measuring: %d rounds of %,d calls by turns, twice", rounds, calls);
      figures = clients.measure(schedule(), floor);
      ringServed = clients.ringServed();
      transport = transport(clients);
      table = new Table(out, transport, transport.equals("verbs"));
    }
    table.head();
    table.rows("direct", figures);
    table.rows("default", measureDefault());
    table.foot(figures);
    say("");
    boolean ended = true;
    if (keep) {
      tellHowToAsk(server);
    } else {
      ended = server.stop();
      say("index server: %s", ended ? "ended by SIGTERM, as it should" : "did not end well");
    }
    final long mismatches =
        compared.values().stream().mapToLong(Clients.Comparison::mismatches).sum();
    say(
        "RESULT transport=%s entries=%d mismatches=%d ring_p50_us=%s grpc_p50_us=%s ratio=%s%s",
        ringServed ? transport : "grpc",
        compared.get(Side.grpc).entries(),
        mismatches,
        Table.median(figures, Entrant.ring),
        Table.median(figures, Entrant.grpc),
        Table.ratio(figures, Entrant.grpc, Entrant.ring),
        floor == null
            ? ""
            : " floor_p50_us="
                + Table.median(figures, Entrant.floor)
                + " floor_ratio="
                + Table.ratio(figures, Entrant.ring, Entrant.floor));
    return ringServed && ended && mismatches == 0;
  }

  private Schedule schedule() {
    return new Schedule(warmUp, rounds, calls, millis);
  }

  private void connect(Clients clients) throws IOException {
    clients.connect();
    if (clients.obstacle() == null) {
      say("ring: %s", clients.ask(Side.ring, "describe").text("reason"));
    } else {
      say("no ring can be used, so this is gRPC alone: %s", clients.obstacle());
    }
  }

  private void sample(Clients clients) {
    final String[] value =
        clients.ask(clients.best(), "sample", SAMPLE).text("value").split(" ", 0);
    if (value.length == 3) {
      say(
          "where is %s? In module %s, at %s, %s bytes (answered over %s)",
          SAMPLE, value[0], value[1], value[2], transport(clients));
    } else {
      say("where is %s? Not in the index", SAMPLE);
    }
  }

  private static String transport(Clients clients) {
    return clients.ask(clients.best(), "describe").text("transport");
  }

  /** The same with gRPC's default executors on both sides, for which there is a second server. */
  private Map<Entrant, Row> measureDefault() throws IOException {
    try (IndexServerProcess server = IndexServerProcess.start(false, host, rings);
        Clients clients = new Clients(server, false, rings, entries)) {
      clients.connect();
      return clients.measure(schedule(), null);
    }
  }

  private void tellHowToAsk(IndexServerProcess server) {
    final String key =
        Base64.getEncoder().encodeToString(SAMPLE.getBytes(StandardCharsets.US_ASCII));
    say("The index server stays up until you interrupt this. It takes and gives bytes as base64:");
    say("  grpcurl -plaintext %s list", server.target());
    say(
        "  grpcurl -plaintext -d '{\"key\":\"%s\"}' %s ringfetch.index.v1.Index/Get",
        key, server.target());
  }

  @FormatMethod
  private void say(String format, Object... arguments) {
    out.printf(Locale.ROOT, format + "%n", arguments);
    out.flush();
  }
}

package dev.ringfetch.index.linearizability;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The command {@code index-service/server/src/test/soak/run}: a {@link KillRun}, and its counts.
 */
@Command(
    name = "soak/run",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Kills index servers under load, and checks what their clients saw.")
final class Kills implements Callable<Integer> {
  @Option(names = "--kills", description = "How many. Default: ${DEFAULT-VALUE}.")
  private int kills = 200;

  @Option(names = "--seed", description = "Of what is done, and when. Default: the clock.")
  private long seed = System.nanoTime();

  @Option(
      names = "--directory",
      description = "Where data and memory of the servers are. Default: a temporary one.")
  private Path directory;

  public static void main(String[] args) {
    System.exit(new CommandLine(new Kills()).execute(args));
  }

  @Override
  public Integer call() throws IOException {
    final Path top =
        directory == null
            ? Files.createTempDirectory("rf-kills-")
            : Files.createDirectories(directory);
    System.out.println("kills: kills=" + kills + " seed=" + seed + " directory=" + top);
    final long beginNs = System.nanoTime();
    try (KillRun run =
        new KillRun(
            Files.createDirectories(top.resolve("shm")),
            Files.createDirectories(top.resolve("data")),
            seed)) {
      System.out.println(run.run(kills));
    } catch (Throwable t) { // told with what it takes to repeat it
      t.printStackTrace();
      System.out.println("kills: FAILED seed=" + seed + " directory=" + top);
      return 1;
    }
    System.out.printf(
        "kills: passed seed=%d seconds=%d%n",
        seed, TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - beginNs));
    try (Stream<Path> tree = Files.walk(top)) {
      for (final Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    }
    return 0;
  }
}

package dev.ringfetch.examples.load;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** The machine and the time of a measurement. */
public final class Machine {
  private static final Path CPU = Path.of("/proc/cpuinfo");
  private static final Path LOAD = Path.of("/proc/loadavg");

  private Machine() {}

  /** Prints the facts that a reader of the figures needs. */
  public static void print(PrintStream out) throws IOException {
    out.println("machine  " + cpu() + ", " + Runtime.getRuntime().availableProcessors() + " cores");
    out.println(
        "system   " + System.getProperty("os.name") + " " + System.getProperty("os.version"));
    out.println(
        "jdk      "
            + System.getProperty("java.vendor")
            + " "
            + System.getProperty("java.vm.version"));
    out.println("date     " + Instant.now().truncatedTo(ChronoUnit.SECONDS));
    out.println("load     " + load() + " (others' work makes figures worse)");
    out.println();
  }

  private static String cpu() throws IOException {
    return Files.exists(CPU)
        ? Files.readAllLines(CPU).stream()
            .filter(line -> line.startsWith("model name"))
            .map(line -> line.substring(line.indexOf(':') + 1).strip())
            .findFirst()
            .orElse("unknown processor")
        : "unknown processor";
  }

  private static String load() throws IOException {
    return Files.exists(LOAD) ? Files.readString(LOAD).split(" ", 2)[0] : "unknown";
  }
}

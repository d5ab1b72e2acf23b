package dev.ringfetch.index;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The command line of a JVM that compiles and collects as this one does. */
public final class TestJvm {
  private TestJvm() {}

  /** Its {@code java} and flags, to which class path and program can be added. */
  public static List<String> command() {
    final List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    for (final String flag : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      if (flag.matches("-XX:(.?TieredCompilation|TieredStopAtLevel=.*|.Use[A-Za-z]+GC)")) {
        command.add(flag);
      }
    }
    return command;
  }
}

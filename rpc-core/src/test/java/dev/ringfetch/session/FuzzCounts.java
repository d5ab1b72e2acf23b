package dev.ringfetch.session;

import java.util.EnumMap;
import java.util.Map;

/** What the fuzz targets of this process have gone through. One thread. */
final class FuzzCounts {
  private static final Map<Reject, Long> REJECTS = new EnumMap<>(Reject.class);

  private static long executions;
  private static long frames;
  private static long sessions;
  private static long units;
  private static long calls;

  private FuzzCounts() {}

  static void execution() {
    executions++;
  }

  static void session() {
    sessions++;
  }

  static void frames(int count) {
    frames += count;
  }

  static void units(int count) {
    units += count;
  }

  /** Calls of the well-behaved sessions beside, each of them answered rightly. */
  static void bystanderCalls(int count) {
    calls += count;
  }

  static void reject(Reject reason) {
    REJECTS.merge(reason, 1L, Long::sum);
  }

  /** How often a session was ended for this reason. */
  static long rejects(Reject reason) {
    return REJECTS.getOrDefault(reason, 0L);
  }

  /** One line for people and for the script that adds them up. */
  static String line(String target) {
    return "fuzz: target="
        + target
        + " frames="
        + frames
        + " executions="
        + executions
        + " sessions="
        + sessions
        + " units="
        + units
        + " bystander="
        + calls
        + " rejects="
        + REJECTS;
  }
}

package dev.ringfetch.soak;

import dev.ringfetch.soak.Fleet.Role;
import dev.ringfetch.system.Await;
import dev.ringfetch.system.Tree;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** What holds after every fault, and what holds over the whole run. */
final class Invariants {
  /** Generous: what never ends is looked for, not what is slow on a busy machine. */
  private static final int LIMIT_S = 180;

  private static final long INTERVAL_NS = TimeUnit.MILLISECONDS.toNanos(5);
  private static final int CALLS = 20;

  /** Of memory for long messages, a session and direction: 4 MiB each, of 16. */
  private static final int MAX_SEGMENTS = 4;

  /** Descriptors that a process may have more of at the end: gRPC's, which come and go. */
  private static final int MAX_MORE_DESCRIPTORS = 8;

  /** Threads of one poller: the driver and the two backup threads. */
  private static final int MAX_POLLERS = 3;

  /** Threads that a process may have more of at the end: of pools, which shrink with time. */
  private static final int MAX_MORE_THREADS = 24;

  private final Fleet fleet;
  private final Map<Role, Vitals> first = new EnumMap<>(Role.class);
  private final Map<Role, Map<String, Long>> last = new EnumMap<>(Role.class);
  private final Map<Role, Long> doneCalls = new EnumMap<>(Role.class);
  private final Map<Role, Long> failedCalls = new EnumMap<>(Role.class);
  private int leaked;

  Invariants(Fleet fleet) {
    this.fleet = fleet;
  }

  /** Keeps the counts of a process that is about to be killed. */
  void beforeKill(Role role) throws Exception {
    if (!role.isServer() && fleet.get(role) != null) {
      count(role, fleet.get(role).ask("stats"));
      add(role);
    }
  }

  private void count(Role role, Map<String, Long> stats) {
    last.put(role, stats);
  }

  private void add(Role role) {
    final Map<String, Long> stats = last.remove(role);
    if (stats != null) {
      doneCalls.merge(role, ended(stats), Long::sum);
      failedCalls.merge(role, stats.get("unavailable"), Long::sum);
    }
  }

  private static long ended(Map<String, Long> stats) {
    return stats.get("answered")
        + stats.get("unavailable")
        + stats.get("late")
        + stats.get("cancelled");
  }

  /** Calls that have ended so far. */
  long calls() {
    return sum(doneCalls) + last.values().stream().mapToLong(Invariants::ended).sum();
  }

  /** Calls that ended UNAVAILABLE so far. */
  long failed() {
    return sum(failedCalls)
        + last.values().stream().mapToLong(stats -> stats.get("unavailable")).sum();
  }

  private static long sum(Map<Role, Long> counts) {
    return counts.values().stream().mapToLong(Long::longValue).sum();
  }

  int leaked() {
    return leaked;
  }

  /**
   * Everybody is on a ring again and calls; what was under way before has ended; servers have the
   * sessions that they should have; dead processes have left nothing.
   *
   * @param sinceNs when the last process was killed or continued.
   * @param killed whose calls have no answer to wait for any more.
   * @return how long that took, in milliseconds.
   */
  long afterFault(long sinceNs, List<Role> killed) throws Exception {
    final long startNs = System.nanoTime();
    for (final Role role : Role.values()) {
      if (!role.isServer()) {
        serves(role);
        ended(role, sinceNs, killed.contains(role.server()));
      }
    }
    for (final Role role : Role.values()) {
      if (role.isServer()) {
        holds(role);
      }
    }
    await("the files of the living", () -> files().isEmpty(), this::files);
    return Await.millisSince(startNs);
  }

  private void serves(Role role) throws Exception {
    final Member member = fleet.get(role);
    final long before = check(role).get("rings");
    await(
        member + " is back on a ring",
        () -> {
          final Map<String, Long> stats = check(role);
          return stats.get("ring") == 1 && stats.get("rings") > before + CALLS;
        },
        () -> last.get(role));
  }

  private void ended(Role role, long sinceNs, boolean allEnd) throws Exception {
    await(
        "calls from before the fault end in " + fleet.get(role),
        () -> {
          final long ageMs = Await.millisSince(sinceNs);
          final Map<String, Long> stats = check(role);
          return stats.get("oldest") < ageMs && (!allEnd || stats.get("oldestHanging") < ageMs);
        },
        () -> last.get(role));
  }

  private void holds(Role server) throws Exception {
    final int clients = Role.clientsOf(server).size();
    await(
        "sessions and handlers of " + fleet.get(server),
        () -> {
          final Map<String, Long> stats = fleet.get(server).ask("stats");
          return stats.get("sessions") == clients && stats.get("hanging") == clients;
        },
        () -> fleet.get(server).ask("stats"));
  }

  /** What a client says, in which there is nothing that must never be. */
  private Map<String, Long> check(Role role) throws Exception {
    final Map<String, Long> stats = fleet.get(role).ask("stats");
    count(role, stats);
    if (stats.get("failures") > 0
        || (role.requiresFabric() && stats.get("grpcs") > 0)
        || (role == Role.WITNESS && stats.get("unavailable") > 0)) {
      throw new AssertionError(fleet.get(role) + ": " + stats);
    }
    return stats;
  }

  /** Files that are not a living process's directory, lock and counters, or a server's bell. */
  private List<String> files() throws IOException {
    final List<String> left = new ArrayList<>(Tree.files(fleet.directory()));
    for (final Role role : Role.values()) {
      final String mine = "/" + fleet.get(role).pid() + "-";
      left.removeIf(file -> file.contains(mine) && !Vitals.isMemory(file));
    }
    return left;
  }

  /**
   * Records the resources of the processes that are never killed; at the end they must be the same.
   */
  void begin() throws Exception {
    for (final Role role : Role.values()) {
      final Vitals vitals = settled(role);
      if (!role.isMortal()) {
        first.put(role, vitals);
      }
    }
  }

  /**
   * Checks that no process maps a session that is over, and that the processes that are never
   * killed have no more resources than before.
   */
  void checkLeaks() throws Exception {
    for (final Role role : Role.values()) {
      final Vitals before = first.get(role);
      final Vitals now = settled(role);
      if (before != null) {
        leaked += Math.max(0, now.descriptors() - before.descriptors() - MAX_MORE_DESCRIPTORS);
        leaked += Math.max(0, now.threads() - before.threads() - MAX_MORE_THREADS);
        System.out.println("soak: " + role + " before=" + before + " now=" + now);
      }
    }
    if (leaked > 0) {
      throw new AssertionError("leaked=" + leaked);
    }
  }

  /** Awaits that nothing is held but the sessions that are open, and what serves them. */
  private Vitals settled(Role role) throws Exception {
    final Member member = fleet.get(role);
    final int sessions = role.isServer() ? Role.clientsOf(role).size() : 1;
    final int files = role.isServer() ? sessions : 0; // a client closes its file once it is mapped
    await(
        "nothing but " + sessions + " sessions and a poller's threads in " + member,
        () -> {
          member.ask("gc"); // mappings go with their buffers
          final Vitals vitals = Vitals.of(member.pid(), fleet.directory());
          return vitals.mappings() == sessions
              && vitals.sessionDescriptors() == files
              && vitals.registered() <= 2 * MAX_SEGMENTS * sessions
              && vitals.pollers() >= 1
              && vitals.pollers() <= MAX_POLLERS;
        },
        () -> Vitals.of(member.pid(), fleet.directory()));
    return Vitals.of(member.pid(), fleet.directory());
  }

  private void await(String what, Await.Condition condition, Finding finding) throws Exception {
    try {
      Await.until(
          what,
          LIMIT_S,
          () -> {
            final boolean holds = condition.holds();
            if (!holds) {
              LockSupport.parkNanos(INTERVAL_NS); // to ask costs the other process time
            }
            return holds;
          });
    } catch (AssertionError e) {
      final Object found = finding.get();
      for (final Role role : Role.values()) {
        fleet.get(role).dump();
      }
      throw new AssertionError(e.getMessage() + ": " + found, e);
    }
  }

  /** What was found in place of what was awaited. */
  @FunctionalInterface
  private interface Finding {
    Object get() throws Exception;
  }
}

package dev.ringfetch.index.replication;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * The cores of a node in simulated time: each takes the job that has waited longest. A job's code
 * runs when it begins and says what its steps take; what it sends leaves the core when those before
 * have passed.
 *
 * <p>After a job, the core polls for the results of looks that are under way, as a leader's cycle
 * does: until all are there, or for as long as a cycle polls. Then it wakes the node's own thread,
 * which goes on polling until there are none, on the next core that is free. One core polls at a
 * time. No job sees a result meanwhile, as the cycle that polls has the replica's token.
 */
final class SimulatedCores {
  /** A leader's cycle makes 100 polls of two members: assumed to take 10 ns each. */
  private static final long POLL_NS = 2_000;

  /** Until the node's own thread runs that was woken: assumed. */
  private static final long WAKE_NS = 5_000;

  /** Uniform about the mean: no two jobs of a kind take the same time. */
  private static final double SPREAD = 0.5;

  private final SimulatedTime time;
  private final boolean polls;
  private final Runnable look;
  private final ArrayDeque<Runnable> jobs = new ArrayDeque<>();
  private final List<Sent> sent = new ArrayList<>(); // by the job that runs
  private int idle;
  private double chargedNs; // to the job that runs
  private double busyNs;
  private int looks; // under way
  private boolean polling;
  private boolean driven; // a job has come to its end since the polling began
  private OwnThread ownThread = OwnThread.ASLEEP;
  private long pollCount; // begun so far
  private long pollBeganNs;
  private double polledNs;

  /** The node's own thread, which brings the time, and polls once a cycle has woken it. */
  private enum OwnThread {
    ASLEEP,
    WOKEN,
    /** Whichever core polls does so until no look is under way. */
    POLLING
  }

  private record Sent(Connection over, double afterNs, Runnable action) {}

  /** Keeps the order of what different cores send over it. */
  static final class Connection {
    private long lastNs;

    Connection() {}
  }

  /**
   * Creates idle cores.
   *
   * @param polls whether cores poll for results of looks; else results are jobs as others
   * @param look a cycle that takes results of looks
   */
  SimulatedCores(SimulatedTime time, int count, boolean polls, Runnable look) {
    this.time = time;
    this.polls = polls;
    this.look = look;
    idle = count;
  }

  /** Adds a job, which some core does. */
  void submit(Runnable job) {
    jobs.add(job);
    begin();
  }

  /** Adds a job of the node's own thread, which does it at once if it polls. */
  void submitOwn(Runnable job) {
    if (polling && ownThread == OwnThread.POLLING) {
      endPoll();
      run(job);
    } else {
      submit(job);
    }
  }

  /** The job that runs takes so much longer, exactly. */
  void charge(double ns) {
    chargedNs += ns;
  }

  /** As above, about so long. */
  void chargeAbout(double ns) {
    chargedNs += ns * (1 + SPREAD * (time.random().nextDouble() - 0.5));
  }

  /** What the job that runs takes so far. */
  double charged() {
    return chargedNs;
  }

  /** The job that runs sends: does something when its steps so far have passed. */
  void send(Connection over, Runnable action) {
    sent.add(new Sent(over, chargedNs, action));
  }

  /** Time that all cores were busy, with polling. */
  double busyNs() {
    return busyNs + polledNs;
  }

  /** Time of it that they polled. */
  double polledNs() {
    return polledNs;
  }

  private void begin() {
    while (idle > 0 && !jobs.isEmpty()) {
      idle--;
      run(jobs.poll());
    }
  }

  private void run(Runnable job) {
    chargedNs = 0;
    job.run();
    busyNs += chargedNs;
    final long endNs = time.nowNs() + (long) chargedNs;
    for (final Sent one : sent) {
      one.over.lastNs = Math.max(one.over.lastNs, time.nowNs() + (long) one.afterNs);
      time.at(one.over.lastNs, one.action);
    }
    sent.clear();
    time.at(endNs, this::end);
  }

  private void end() {
    driven = true;
    if (polls && looks > 0 && !polling) {
      poll();
      return;
    }
    if (looks == 0) {
      ownThread = OwnThread.ASLEEP;
    }
    rest();
  }

  /** The core goes on with other jobs. */
  private void rest() {
    idle++;
    begin();
  }

  private void poll() {
    polling = true;
    driven = false;
    pollBeganNs = time.nowNs();
    final long number = ++pollCount;
    if (ownThread != OwnThread.POLLING) {
      time.after(
          POLL_NS,
          () -> {
            if (polling && pollCount == number && ownThread != OwnThread.POLLING) {
              endCycle();
            }
          });
    }
  }

  private void endPoll() {
    polling = false;
    polledNs += time.nowNs() - pollBeganNs;
  }

  /** A cycle has polled for as long as it does; another one follows if there is more to do. */
  private void endCycle() {
    endPoll();
    if (driven) {
      run(look);
      return;
    }
    if (ownThread == OwnThread.ASLEEP) {
      ownThread = OwnThread.WOKEN;
      time.after(WAKE_NS, () -> submit(this::wake));
    }
    rest();
  }

  /** The node's own thread goes on polling; if a core does, that one as well. */
  private void wake() {
    ownThread = OwnThread.POLLING;
    look.run();
  }

  /** A look is under way from now on. */
  void lookBegun() {
    looks++;
  }

  /** A look has a result. */
  void lookEnded() {
    looks--;
    if (!polls) {
      submit(look);
    } else if (polling && looks == 0) {
      endPoll();
      run(look);
    }
  }

  /** Whether results can be seen: no cycle has the token. */
  boolean seesResults() {
    return !polling;
  }
}

package dev.ringfetch.session.remote;

import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.ring.ProcessTime;
import dev.ringfetch.session.owner.OwnedBy;
import org.agrona.concurrent.NanoClock;

/**
 * The adaptive choice whether a client fetches its answers or the server pushes them ({@link
 * ReplyPolicy#ADAPTIVE}): chooses the mode in which calls take less time.
 *
 * <p>RFP (EuroSys'17, section 3) compares the server's process time with a bound that was measured
 * for one generation of cards. This one knows no bound: it measures. Of one call at a time it takes
 * the time that passes from the request's last frame to the answer, less what the server says it
 * has had it for. Now and then it <em>tries</em> the other mode for some calls, sooner after
 * something has changed, later the more often that was in vain; and stays with it if it is better.
 * Each session for itself, at a time of its own: those that share a card come to share its two
 * engines.
 *
 * <p>Fetching costs this side's processor, and reads that find nothing: it has to be better by some
 * little of the whole time that a call takes, which it cannot be where handlers take long.
 */
@OwnedBy("session")
public final class ReplyChoice {
  /** Calls of a trial. */
  public static final int TRIAL_CALLS = 16;

  /** Answers that are longer say more of themselves than of the mode. */
  static final int MAX_LENGTH = 4 * FrameDescriptor.SLOT_LENGTH;

  private static final int FIRST_TRIALS = 2; // until a trial, in trials
  private static final int LAST_TRIALS = 32;
  private static final double FETCH_BETTER = 0.97; // to begin to fetch
  private static final double FETCH_WORSE = 1.03; // to have it pushed again
  private static final double HOPELESS = 2; // a trial ends at its fourth part
  private static final double OUTLIER = 4; // a pause of a process, not of the mode
  private static final double LEAST_NS = 1_000; // to multiply
  private static final double CHANGED = 1.6;
  private static final double OF_COST = 1.0 / 32; // weight of a call
  private static final double OF_LATE = 1.0 / 16;
  private static final double OF_USUAL = 1.0 / 128;
  private static final int MAX_PASSED = 4096; // ends, until the call that is measured is given up
  private static final int NO_PROBE = 0; // no stream has this id

  private final NanoClock clock;
  private final int trialCalls;

  private boolean fetches = true; // as RFP begins
  private boolean trying;
  private int probe = NO_PROBE;
  private long probeNs;
  private int passed; // ends of others meanwhile: it may wait for something

  private int left; // calls, until a trial begins
  private int interval; // calls between trials, about
  private long draws;

  private double cost; // of the mode that is not tried, without the process time
  private double processNs; // of late
  private double usualProcessNs;
  private double wholeNs; // of late
  private double usualNs;
  private int known; // calls, since the mode was settled

  private int tried; // calls of the trial; the first counts for nothing
  private double triedNs;

  /**
   * Begins to fetch.
   *
   * @param trialCalls how many calls a trial takes.
   * @param seed of the times at which it tries, which others are to have others of.
   */
  ReplyChoice(NanoClock clock, int trialCalls, long seed) {
    this.clock = clock;
    this.trialCalls = trialCalls;
    this.draws = seed;
    tryAfter(FIRST_TRIALS * trialCalls);
  }

  /** True when this side is to fetch. */
  public boolean fetches() {
    return fetches;
  }

  /** The last byte of a request was written. */
  void onSent(int id) {
    if (probe == NO_PROBE) {
      passed = 0;
      probe = id;
      probeNs = clock.nanoTime();
    }
  }

  /** Nothing more comes for a stream, and what came was no answer, or a long one. */
  void onClosed(int id) {
    if (id == probe || ++passed > MAX_PASSED) {
      probe = NO_PROBE;
    }
  }

  /**
   * An answer of one frame has come.
   *
   * @param code of the frame.
   */
  void onAnswered(int id, int code) {
    if (id != probe) {
      onClosed(id);
      return;
    }
    probe = NO_PROBE;
    final long elapsedNs = clock.nanoTime() - probeNs;
    final long tookNs = Math.min(ProcessTime.ofCode(code), elapsedNs);
    if (trying) {
      onTried((double) (elapsedNs - tookNs));
    } else {
      onKept((double) (elapsedNs - tookNs), (double) tookNs);
    }
  }

  private void onKept(double ownNs, double tookNs) {
    if (known == 0) {
      keep(ownNs, tookNs, 0);
    }
    known++;
    final double process = Math.min(tookNs, most(processNs));
    final double counted = Math.min(ownNs + process, most(wholeNs));
    cost += Math.max(OF_COST, 1.0 / known) * (Math.min(ownNs, most(cost)) - cost);
    processNs += OF_LATE * (process - processNs);
    usualProcessNs += OF_USUAL * (process - usualProcessNs);
    wholeNs += OF_LATE * (counted - wholeNs);
    usualNs += OF_USUAL * (counted - usualNs);
    if (hasChanged(wholeNs, usualNs) || hasChanged(processNs, usualProcessNs)) {
      keep(wholeNs - processNs, processNs, trialCalls);
      final int before = left;
      tryAfter(FIRST_TRIALS * trialCalls);
      left = Math.min(left, before);
    }
    if (--left <= 0) {
      trying = true;
      tried = -1;
      triedNs = 0;
      turn();
    }
  }

  private void keep(double ownNs, double tookNs, int calls) {
    known = calls;
    cost = ownNs;
    processNs = tookNs;
    usualProcessNs = tookNs;
    wholeNs = ownNs + tookNs;
    usualNs = wholeNs;
  }

  private static boolean hasChanged(double late, double usual) {
    return Math.max(late, usual) > CHANGED * Math.max(Math.min(late, usual), LEAST_NS);
  }

  private static double most(double usual) {
    return OUTLIER * Math.max(usual, LEAST_NS);
  }

  private void onTried(double ownNs) {
    if (tried++ < 0) {
      return; // the server may have had it before it knew
    }
    triedNs += Math.min(ownNs, most(cost));
    if (tried >= trialCalls) {
      decide();
    } else if (tried >= trialCalls / 4
        && processNs + triedNs / tried > HOPELESS * (processNs + cost)) {
      decide();
    }
  }

  private void decide() {
    final double triedCost = triedNs / tried;
    final double least = fetches ? FETCH_BETTER : FETCH_WORSE;
    trying = false;
    if (processNs + triedCost < least * (processNs + cost)) {
      keep(triedCost, processNs, tried);
      tryAfter(FIRST_TRIALS * trialCalls);
    } else {
      tryAfter(Math.min(2 * interval, LAST_TRIALS * trialCalls));
      turn();
    }
  }

  /** Takes the other mode. */
  public void turn() {
    fetches = !fetches;
    probe = NO_PROBE; // it belongs to neither
  }

  /** After so many calls, a half more or less. */
  private void tryAfter(int calls) {
    interval = calls;
    draws = draws * 0x5851F42D4C957F2DL + 0x14057B7EF767814FL;
    left = calls / 2 + (int) ((draws >>> 33) % (calls + 1));
  }
}

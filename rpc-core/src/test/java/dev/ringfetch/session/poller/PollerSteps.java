package dev.ringfetch.session.poller;

/** The way of tests in other packages to what a poller shows its own package only. */
public final class PollerSteps {
  /** See {@link Poller#AWAKE}. */
  public static final long AWAKE = Poller.AWAKE;

  /** See {@link SpinPace#LEAST_NS}. */
  public static final long LEAST_NS = SpinPace.LEAST_NS;

  /** See {@link SpinPace#MAX_BALANCE}. */
  public static final int MAX_BALANCE = SpinPace.MAX_BALANCE;

  private PollerSteps() {}

  /** See {@link Poller#beginSleep}. */
  public static long beginSleep(Poller poller, boolean unlessTasks) {
    return poller.beginSleep(unlessTasks);
  }

  /** See {@link Poller#endSleep}. */
  public static void endSleep(Poller poller) {
    poller.endSleep();
  }

  /** See {@link Poller#isIdle}. */
  public static boolean isIdle(Poller poller) {
    return poller.isIdle();
  }

  /** See {@link Poller#wakeupBefore}. */
  public static void wakeupBefore(Poller poller, long deadlineNs) {
    poller.wakeupBefore(deadlineNs);
  }

  /** See {@link Poller#change}. */
  public static void change(Poller poller, Runnable change) {
    poller.change(change);
  }

  /** True while the poller has the session among those that it polls. */
  public static boolean isActive(PollerEntry entry) {
    return entry.active;
  }

  /** Sessions of a poller. */
  public static int sessions(Object polledSessions) {
    return ((PolledSessions) polledSessions).size();
  }
}

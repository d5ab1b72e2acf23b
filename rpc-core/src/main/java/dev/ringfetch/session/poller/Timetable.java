package dev.ringfetch.session.poller;

/** A timetable that sessions of several pollers share; pollers tell it the time. */
@FunctionalInterface
public interface Timetable {
  /** Called in every round of a poller. Any thread. */
  void tick(long nowNs);
}

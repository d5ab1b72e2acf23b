package dev.ringfetch.session.poller;

/** A timetable that sessions of several pollers share, and that moves on with the time. */
@FunctionalInterface
public interface Timetable {
  /** Time has passed; a poller's round. Any thread. */
  void tick(long nowNs);
}

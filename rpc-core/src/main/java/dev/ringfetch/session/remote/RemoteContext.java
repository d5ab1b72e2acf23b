package dev.ringfetch.session.remote;

import org.agrona.concurrent.NanoClock;

/** The options of a session without common memory. */
public interface RemoteContext {
  /** Clock of the waits. */
  NanoClock clock();

  /**
   * The way in which answers get to this side, if it is a client that cannot load from the server's
   * memory: {@link ReplyPolicy#ADAPTIVE} unless set.
   */
  ReplyPolicy replyPolicy();

  /** How many calls a client takes to try the other mode. */
  int replyTrialCalls();

  /**
   * How long a client waits for a datagram with an answer before it reads, in nanoseconds: the cost
   * of a lost one. It waits for up to 16 times as long where they prove to take longer. See {@link
   * ReplyPolicy#DATAGRAM}.
   */
  long hintWaitNs();

  /**
   * Sessions in use at the same time, beyond which a server has them take turns; 0 for never. Only
   * where a card stands between the sides.
   */
  int turnThreshold();

  /** Sessions that have their turn together, about. */
  int turnGroup();

  /** How long a turn lasts, in nanoseconds. */
  int turnLengthNs();

  /** The timetable that a server's sessions with this context share. Any thread. */
  TurnSchedule turns();
}

package dev.ringfetch.index.onesided;

import dev.ringfetch.index.log.RecordLog;
import java.util.concurrent.TimeUnit;

/**
 * The one-sided path of records to one member in one epoch: the leader writes records into the
 * member's log memory, and then reads the member's gate. If the gate still names the epoch, the
 * member has the records. No message is sent, and the member's processor is not involved.
 *
 * <p>One look is under way at a time; later records share the next one.
 *
 * <p>Used by the owner of the leader's replica alone.
 */
public final class OneSidedPath implements AutoCloseable {
  /**
   * A look without a result for so long ends the path: messages do as well. Longer than a card
   * takes to send a lost packet again.
   */
  private static final long LOOK_LIMIT_NS = TimeUnit.MILLISECONDS.toNanos(400);

  /**
   * Looks ask what the member has taken when the ring has no room, or less than a half as far as is
   * known: a READ less for the others.
   */
  private static final int ROOM_PART = 2;

  private final RemoteLog remote;
  private final long epoch;
  private long written; // bytes
  private long consumed; // bytes, as far as is known
  private boolean looking;
  private long lookNs;
  private long lookPosition;
  private long lookQuestion;
  private long received;
  private long confirmed;

  /**
   * Creates the path.
   *
   * @param remote closed with this
   * @param begin position before the first record that is placed; the member has all up to there
   */
  public OneSidedPath(RemoteLog remote, long epoch, long begin) {
    this.remote = remote;
    this.epoch = epoch;
    received = begin;
    remote.begin(begin);
  }

  /** Whether a look is under way: its result is to be taken soon. */
  public boolean isLooking() {
    return looking;
  }

  /** Whether a look has ended whose result was not taken. */
  public boolean hasResult() {
    return looking && !remote.isLooking();
  }

  /** Name of the fabric. */
  public String fabric() {
    return remote.fabric();
  }

  /** Position up to which the member has all records. */
  public long received() {
    return received;
  }

  /** Number of the last question that the gate has answered: whether it names the epoch. */
  public long confirmed() {
    return confirmed;
  }

  /**
   * Places the records that follow, as many as there is room for, and looks at the gate if there is
   * a need.
   *
   * @param cursor stands behind what was placed
   * @return false if records have to go by messages from now on
   */
  public boolean work(RecordLog.Cursor cursor, long commit, long question, long nowNs) {
    boolean goesOn = collect(nowNs);
    while (goesOn) {
      final long before = consumed;
      if (!place(cursor, commit)) {
        return false;
      }
      final boolean isHeldBack = cursor.hasNext() && !remote.mayWrite(); // until a look has ended
      final boolean isDue =
          cursor.position() > received || question > confirmed || cursor.hasNext();
      if (looking || !isDue) {
        return true;
      }
      final boolean isFull = cursor.hasNext() && !isHeldBack;
      remote.look(isFull || written - consumed > remote.length() / ROOM_PART);
      look(cursor.position(), question, nowNs);
      goesOn = collect(nowNs);
      final boolean hasRoom = isHeldBack || consumed != before;
      if (goesOn && !(hasRoom && cursor.hasNext())) {
        return true;
      }
    }
    return false;
  }

  /** Places whole records; returns false if the next one never fits. */
  private boolean place(RecordLog.Cursor cursor, long commit) {
    final long before = written;
    while (cursor.hasNext() && remote.mayWrite()) {
      final int length = cursor.take((int) (remote.length() - (written - consumed)));
      if (length == 0) {
        if (written == consumed) {
          return false;
        }
        break;
      }
      write(cursor.array(), cursor.start(), length);
    }
    if (written != before) {
      remote.publish(written, commit);
    }
    return true;
  }

  private void write(byte[] bytes, int start, int length) {
    final int at = (int) (written % remote.length());
    final int first = Math.min(length, remote.length() - at);
    remote.write(at, bytes, start, first);
    if (first < length) {
      remote.write(0, bytes, start + first, length - first);
    }
    written += length;
  }

  private void look(long position, long question, long nowNs) {
    looking = true;
    lookNs = nowNs;
    lookPosition = position;
    lookQuestion = question;
  }

  /** Takes the result of a look; returns false if the path has ended. */
  private boolean collect(long nowNs) {
    if (looking && remote.isLooking()) {
      return !remote.hasEnded() && nowNs - lookNs < LOOK_LIMIT_NS;
    }
    if (remote.hasEnded()) { // perhaps by this look, which then has no result
      return false;
    }
    if (!looking) {
      return true;
    }
    looking = false;
    if (remote.gate() != epoch) {
      return false; // the member obeys no more, or another one
    }
    if (remote.consumed() < consumed || remote.consumed() > written) {
      return false; // what cannot be
    }
    consumed = remote.consumed();
    received = lookPosition;
    confirmed = Math.max(confirmed, lookQuestion);
    return true;
  }

  @Override
  public void close() {
    remote.close();
  }
}

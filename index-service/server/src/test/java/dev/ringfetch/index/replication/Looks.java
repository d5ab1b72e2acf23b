package dev.ringfetch.index.replication;

import dev.ringfetch.index.onesided.RemoteLog;

/** A member's memory of which only looks matter. */
final class Looks implements RemoteLog {
  int begun;
  long placed;
  long placedAtLook;
  private boolean looking;
  private long seen;
  private boolean ended;
  boolean full;
  boolean askedForRoom;
  long taken;
  boolean closed;

  /** The look has found this gate. */
  void end(long word) {
    seen = word;
    looking = false;
  }

  /** The look has failed: what an earlier one has found is still there. */
  void fail() {
    ended = true;
    looking = false;
  }

  @Override
  public String fabric() {
    return "none";
  }

  @Override
  public int length() {
    return 4096;
  }

  @Override
  public void begin(long position) {}

  @Override
  public boolean mayWrite() {
    return !full;
  }

  @Override
  public void write(int offset, byte[] bytes, int start, int length) {}

  @Override
  public void publish(long end, long commit) {
    placed = end;
  }

  @Override
  public void look(boolean room) {
    askedForRoom = room;
    begun++;
    looking = true;
    placedAtLook = placed;
  }

  @Override
  public boolean isLooking() {
    return looking;
  }

  @Override
  public long gate() {
    return seen;
  }

  @Override
  public long consumed() {
    return taken;
  }

  @Override
  public boolean hasEnded() {
    return ended;
  }

  @Override
  public void close() {
    closed = true;
  }
}

package dev.ringfetch.session;

import dev.ringfetch.fabric.HeapFabric;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.session.carrier.Geometry;
import dev.ringfetch.session.carrier.RingPair;
import dev.ringfetch.session.poller.Poller;

/** A session without calls, which counts what its owners were asked for. */
public class CountingSession extends Session {
  private static final int RING_LENGTH = ArenaDescriptor.MIN_RING_LENGTH;
  public static final Geometry GEOMETRY =
      new Geometry(RING_LENGTH, RING_LENGTH, RING_LENGTH, 1, 0x5EED_0000_0000_5EEDL, 0, 0);

  /** Length of the memory of such a session. */
  public static final int MEMORY_LENGTH = ArenaDescriptor.length(RING_LENGTH, RING_LENGTH);

  // The owner's: plain, so that the token is tested, too.
  int asked; // all bits together
  int operations;
  int rounds;
  int ends;
  int endsTold;

  CountingSession(HeapFabric fabric, Poller poller, SessionContext context) {
    this(fabric.server(), poller, context);
  }

  CountingSession(QueuePair queuePair, Poller poller, SessionContext context) {
    super(RingPair.ofServer(queuePair, GEOMETRY), false, poller, context);
  }

  @Override
  void onOperations(Stream stream, int bits) {
    asked |= bits;
    operations += Integer.bitCount(bits);
  }

  @Override
  void onRound() {
    rounds++;
  }

  @Override
  void onEnd() {
    ends++;
  }

  @Override
  void tellFlow(Stream stream) {}

  @Override
  void tellEnd(String reason) {
    endsTold++;
  }

  @Override
  String side() {
    return "counting";
  }

  @Override
  boolean mustArmToLeave() {
    return false;
  }

  @Override
  boolean isPolledByCallers() {
    return false;
  }

  @Override
  boolean retire() {
    return true;
  }

  @Override
  boolean onStreamFrame(
      int streamId, int flags, int code, MemoryRegion region, int offset, int length) {
    return true;
  }

  @Override
  Stream notice(int id, int flags, int code) {
    throw new UnsupportedOperationException();
  }

  @Override
  boolean onSessionFrame(int flags) {
    return false;
  }

  @Override
  void onRead(Stream stream) {}

  @Override
  void onSent(Stream stream) {}

  @Override
  void onDeadline(Stream stream) {}

  @Override
  void distrust(Stream ready) {}

  @Override
  void tell(Stream stream) {}
}

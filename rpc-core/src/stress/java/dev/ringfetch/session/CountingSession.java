package dev.ringfetch.session;

import dev.ringfetch.fabric.HeapFabric;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.shm.SharedSlices;
import dev.ringfetch.ring.ArenaDescriptor;

/** A session without calls, which counts what its owners were asked for. */
final class CountingSession extends Session {
  static final SessionContext CONTEXT = new SessionContext().spinNs(0);

  private static final int RING_LENGTH = ArenaDescriptor.MIN_RING_LENGTH;
  private static final Geometry GEOMETRY =
      new Geometry(RING_LENGTH, RING_LENGTH, RING_LENGTH, 1, 0x5EED_0000_0000_5EEDL, 0, 0);
  private static final SharedSlices SLICES =
      new SharedSlices(ArenaDescriptor.length(RING_LENGTH, RING_LENGTH));

  // The owner's: plain, so that the token is tested, too.
  int asked; // all bits together
  int operations;
  int rounds;
  int ends;
  int endsTold;

  CountingSession() {
    this(new Poller(SLICES.connect().serverDoorbell(), CONTEXT));
  }

  CountingSession(Poller poller) {
    this(SLICES.connect(), poller);
  }

  private CountingSession(HeapFabric fabric, Poller poller) {
    super(RingPair.ofServer(fabric.server(), GEOMETRY), poller, CONTEXT);
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
  void tellEnd(String reason) {
    endsTold++;
  }

  @Override
  boolean expectsFrames() {
    return false;
  }

  @Override
  boolean retire() {
    return true;
  }

  @Override
  public boolean onFrame(
      int streamId, int flags, int code, int ack, MemoryRegion region, int offset, int length) {
    return true;
  }

  @Override
  void onSent(Stream stream) {}

  @Override
  void onDeadline(Stream stream) {}

  @Override
  void distrust(Stream ready) {}

  @Override
  void tell(Stream stream) {}
}

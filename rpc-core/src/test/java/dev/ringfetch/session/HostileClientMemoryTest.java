package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.ring.RingWriter;
import dev.ringfetch.session.SessionSteps.Sizes;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A client that takes the memory away while its streams of many units come in. */
@Timeout(60)
class HostileClientMemoryTest {
  private final Fading region = new Fading();
  private final SessionSteps steps = new SessionSteps(Sizes.ROOMY, region);

  /** Memory that may be gone: the session that has loaded from it notices when it verifies. */
  private static final class Fading extends DirectRegion {
    boolean gone;
    private boolean fault;

    Fading() {
      super(ArenaDescriptor.length(Sizes.ROOMY.ringLength(), Sizes.ROOMY.ringLength()));
    }

    @Override
    public long getLong(int index) {
      fault |= gone;
      return super.getLong(index);
    }

    @Override
    public void getBytes(int index, byte[] destination, int offset, int length) {
      fault |= gone;
      super.getBytes(index, destination, offset, length);
    }

    @Override
    public void verify() {
      if (fault) {
        fault = false;
        throw new InternalError("of the test");
      }
      super.verify();
    }
  }

  /** The memory went before the call was told of its first unit: there is none. */
  @Test
  void requestOutOfMemoryThatIsGone() {
    final int ack = (int) steps.geometry.responsePosition();
    assertEquals(
        RingWriter.WRITTEN, steps.hostileClient().write(1, PREFIX, 0, ack, new byte[8], 0, 8));
    steps.fabric.client().ringDoorbell();
    region.gone = true;
    steps.stepServer();
    assertEquals(1, steps.serverEnds.size());
    assertEquals(List.of(), steps.requests, "a call that nobody can read");
  }
}

package dev.ringfetch.session;

import dev.ringfetch.hunt.Rounds;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The fuzz targets on random programs: what the fuzzer has found is replayed elsewhere. */
@Timeout(120)
class SessionFuzzTest {
  private static final int PROGRAMS = Rounds.of(5_000, 2_000);

  private static void run(Consumer<byte[]> target) {
    final long first = Long.getLong("ringfetch.seed", 1);
    for (int i = 0; i < PROGRAMS; i++) {
      final Random random = new Random(first + i);
      final byte[] program = new byte[random.nextInt(300)];
      random.nextBytes(program);
      try {
        target.accept(program);
      } catch (Throwable t) {
        throw new AssertionError("-Dringfetch.seed=" + (first + i) + ": " + t, t);
      }
    }
  }

  @Test
  void serverUnderRandomPrograms() {
    run(ServerSessionFuzz::fuzzerTestOneInput);
    ServerSessionFuzz.fuzzerTearDown();
  }

  @Test
  void clientUnderRandomPrograms() {
    run(ClientSessionFuzz::fuzzerTestOneInput);
    ClientSessionFuzz.fuzzerTearDown();
  }
}

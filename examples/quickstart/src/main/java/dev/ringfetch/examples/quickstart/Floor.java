package dev.ringfetch.examples.quickstart;

import dev.ringfetch.examples.verbs.BareMode;
import dev.ringfetch.examples.verbs.ProcessPair;
import dev.ringfetch.examples.verbs.VerbsRound;
import dev.ringfetch.rdma.natives.NativeLibrary;
import dev.ringfetch.rpc.ReplyMode;
import java.io.IOException;
import java.net.InetAddress;
import java.util.List;

/**
 * The floor of the quickstart: verbs alone, between two processes of their own. No ring over verbs
 * can be faster.
 */
final class Floor implements AutoCloseable {
  private static final int WARM_UP_MS = 2000;
  private static final int ROUND_MS = 500;

  /** Length of a round trip beyond which sleeping pays. */
  private static final int SPIN_ROUND_TRIPS = 50;

  /** The default polling time of rings. */
  private static final int MIN_SPIN_MICROS = 50;

  /** Verbs that take so long are a scheduler's, which sleep helps. */
  private static final int MAX_SPIN_MICROS = 20_000;

  private final ProcessPair pair;
  private final int spinMicros;

  private Floor(ProcessPair pair) {
    this.pair = pair;
    final double wanted = SPIN_ROUND_TRIPS * pair.round(WARM_UP_MS).figures().p50Us();
    this.spinMicros = (int) Math.max(MIN_SPIN_MICROS, Math.min(wanted, MAX_SPIN_MICROS));
  }

  /**
   * Starts both processes.
   *
   * @param mode in which answers move.
   */
  static Floor start(ReplyMode mode, InetAddress host) throws IOException {
    final BareMode bare =
        switch (mode) {
          case ADAPTIVE, FETCH -> BareMode.fetch;
          case PUSH -> BareMode.push;
          case DATAGRAM -> BareMode.datagram;
        };
    final ProcessPair pair = ProcessPair.bare(bare, host, List.of());
    try {
      return new Floor(pair);
    } catch (RuntimeException e) {
      pair.close();
      throw e;
    }
  }

  /** Whether there are verbs here. */
  static boolean isThere() {
    return NativeLibrary.unavailableBecause().isEmpty();
  }

  /** How long a ring should poll here before it sleeps, in microseconds: a call takes less. */
  int spinMicros() {
    return spinMicros;
  }

  VerbsRound round() {
    return pair.round(ROUND_MS);
  }

  @Override
  public void close() {
    pair.close();
  }
}

package dev.ringfetch.session;

import dev.ringfetch.fabric.FabricCapabilities.ReadAtomicity;
import dev.ringfetch.fabric.FabricCapabilities.WriteOrder;
import dev.ringfetch.fabric.sim.SimContext;
import dev.ringfetch.fabric.sim.SimContext.StoreOrder;
import dev.ringfetch.session.remote.ReplyPolicy;
import java.util.ArrayList;
import java.util.List;

/** What a simulated fabric does and does not promise, and how answers come over it. */
enum SimKind {
  /** Both sides load and store one memory. */
  SHM(ReplyPolicy.FETCH, true, true),
  /** Each side has its own; answers are pushed, in order. */
  PUSH_STRONG(ReplyPolicy.PUSH, false, true),
  /** Answers are pushed, in any order, and there is little room for work requests. */
  PUSH_WEAK(ReplyPolicy.PUSH, false, false),
  /** Answers are read, line by line. */
  FETCH_STRONG(ReplyPolicy.FETCH, false, true),
  /** Answers are read word by word, in any order, and there is little room for work requests. */
  FETCH_WEAK(ReplyPolicy.FETCH, false, false),
  /** Answers are read line by line, where no datagram has brought them, as most do. */
  DATAGRAM_STRONG(ReplyPolicy.DATAGRAM, false, true),
  /** As the one before, word by word; and what can happen to datagrams happens to many. */
  DATAGRAM_WEAK(ReplyPolicy.DATAGRAM, false, false),
  /** Answers are read, line by line, or pushed, in order, and clients turn every few calls. */
  ADAPTIVE_STRONG(ReplyPolicy.ADAPTIVE, false, true),
  /** As the one before, word by word, and in any order. */
  ADAPTIVE_WEAK(ReplyPolicy.ADAPTIVE, false, false);

  private static final int WEAK_DEPTH = 3;
  private static final int MAX_DATAGRAM = 256; // not all frames fit
  private static final int WEAK_DATAGRAMS = 3; // one in so many fares badly
  private static final int REMOTE_DELAY_NS = 1_000; // of every step of a work request: they add up

  final ReplyPolicy mode;
  private final boolean loadStore;
  private final boolean strong;

  SimKind(ReplyPolicy mode, boolean loadStore, boolean strong) {
    this.mode = mode;
    this.loadStore = loadStore;
    this.strong = strong;
  }

  /** Options of a network of this kind. */
  SimContext options(StoreOrder order) {
    final SimContext options = new SimContext().storeOrder(order).loadStore(loadStore);
    if (loadStore) {
      return options;
    }
    options.maxDelayNs(REMOTE_DELAY_NS);
    if (mode == ReplyPolicy.DATAGRAM) {
      options.maxDatagram(MAX_DATAGRAM).datagramFaults(strong ? 0 : WEAK_DATAGRAMS);
    }
    return strong
        ? options.writeOrder(WriteOrder.ASCENDING).readAtomicity(ReadAtomicity.LINE)
        : options
            .writeOrder(WriteOrder.NONE)
            .readAtomicity(ReadAtomicity.NONE)
            .sendQueueDepth(WEAK_DEPTH);
  }

  /** True when bytes move by work requests. */
  boolean hasCards() {
    return !loadStore;
  }

  /**
   * The states that sessions come to while faults are about. A card needs more steps for a whole
   * window of a stream than a fault can wait for: behind one, windows close at rest only, in {@link
   * Rest}.
   */
  List<SimState> states() {
    final List<SimState> states = new ArrayList<>(List.of(SimState.values()));
    if (loadStore) {
      states.removeAll(List.of(SimState.SETTLING, SimState.WAITING));
    } else {
      states.removeAll(List.of(SimState.CLIENT_HELD, SimState.SERVER_HELD));
    }
    if (mode != ReplyPolicy.ADAPTIVE) {
      states.remove(SimState.TURNING);
    }
    return states;
  }
}

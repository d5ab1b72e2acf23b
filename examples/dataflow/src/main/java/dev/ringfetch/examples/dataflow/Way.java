package dev.ringfetch.examples.dataflow;

import dev.ringfetch.examples.load.Side;

/** The ways of batches that are compared: their form, and what carries them. */
enum Way {
  /** Columns in registered buffers, which the sink reads where they have arrived. */
  columns(Side.ring, false),
  /** Arrow Flight over a channel of Ringfetch. */
  flight(Side.ring, true),
  /** Arrow Flight over gRPC on Netty. */
  netty(Side.grpc, true);

  final Side side;
  final boolean isFlight;

  Way(Side side, boolean isFlight) {
    this.side = side;
    this.isFlight = isFlight;
  }
}

package dev.ringfetch.benchmarks;

/** A row that is to be measured. */
record Entry(Peer peer, Load load) {
  /** The entrant whose processes it uses. */
  Entrant entrant() {
    return new Entrant(peer, load.mode().setup());
  }

  /** Name of a file for it, without what it is of. */
  String fileName() {
    final String name =
        String.join(
            "_",
            peer.toString(),
            load.mode().toString(),
            Integer.toString(load.payload()),
            Integer.toString(load.inFlight()));
    return load.hasRate() ? name + "_" + load.rate() + "-per-second" : name;
  }

  /** For people. */
  @Override
  public String toString() {
    final String row =
        String.format(
            "%s %s, %d bytes, %d in flight", peer, load.mode(), load.payload(), load.inFlight());
    return load.hasRate() ? row + ", " + load.rate() + "/s" : row;
  }
}

package dev.ringfetch.index.client;

/**
 * The direct route of a view's reads, which all of them take, or those that a share chooses.
 *
 * @param reads gives readers
 * @param shares of the reads that go directly; null: all go
 */
record DirectRoute(DirectReads reads, RouteShares shares) {
  /**
   * Takes a reader for a run, which gives it back; null if the read goes by a call.
   *
   * @param kind of the read
   */
  DirectReads.Reader borrow(OperationRun run, ReadKind kind) {
    if (shares != null && !run.isDirect(shares.of(kind))) {
      return null;
    }
    final DirectReads.Reader reader = reads.borrow(run);
    if (reader == null || !reader.isDirect()) {
      run.cancelTurn(); // it says nothing of the direct route
    }
    if (reader == null || reader.isReady()) {
      return reader;
    }
    reads.giveBack(reader);
    return null;
  }

  /** The route of all later reads of an operation of which one has gone directly. */
  DirectRoute fixed() {
    return shares == null ? this : new DirectRoute(reads, null);
  }

  void giveBack(DirectReads.Reader reader) {
    reads.giveBack(reader);
  }
}

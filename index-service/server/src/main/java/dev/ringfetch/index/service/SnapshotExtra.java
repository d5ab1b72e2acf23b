package dev.ringfetch.index.service;

import dev.ringfetch.index.journal.SnapshotSink;
import java.io.IOException;

/** Adds to a snapshot what belongs to the catalog besides indexes. */
interface SnapshotExtra {
  /**
   * Takes the state, at the moment of the catalog's state: no record of the catalog is appended
   * meanwhile. Called under the lock of {@link Indexes}.
   */
  void capture();

  /** Adds the records of that state, in one step: few and bounded. */
  void addTo(SnapshotSink sink) throws IOException;
}

package dev.ringfetch.index.replication;

import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The line in the log of a node whose leaders are of a later version and write records that this
 * one does not know. It comes once, as leaders try to send them again and again.
 */
final class UnknownRecords {
  private static final Logger LOGGER = System.getLogger(UnknownRecords.class.getName());

  private final AtomicBoolean isLogged = new AtomicBoolean();

  /** Looks whether the first bytes that are no record are one of a later version. Any thread. */
  void look(long group, byte[] bytes, int offset, int limit) {
    final JournalRecord view = new JournalRecord();
    int at = offset;
    while (view.wrap(bytes, at, limit)) {
      at += RecordDescriptor.aligned(view.length());
    }
    if (view.wrapUnknown(bytes, at, limit) && isLogged.compareAndSet(false, true)) {
      LOGGER.log(
          Level.WARNING,
          "a leader sends records that this version does not know, so this node is no member of"
              + " its index: run the leader's version, see docs/production.md#upgrade: type="
              + view.type()
              + " group="
              + group);
    }
  }
}

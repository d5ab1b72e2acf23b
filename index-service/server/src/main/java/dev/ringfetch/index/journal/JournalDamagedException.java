package dev.ringfetch.index.journal;

import java.io.IOException;

/**
 * The journal is not as it was written: something that was synced is missing or has changed. The
 * message names file and offset. Nothing was changed on the disk.
 */
public final class JournalDamagedException extends IOException {
  private static final long serialVersionUID = 1;

  JournalDamagedException(String message) {
    super(message);
  }
}

package dev.ringfetch.index.journal;

import java.io.IOException;

/**
 * The failure of a journal whose synced data is missing or has changed. The message names file and
 * offset. Nothing was changed on the disk.
 */
public final class JournalDamagedException extends IOException {
  private static final long serialVersionUID = 1;

  JournalDamagedException(String message) {
    super(message);
  }
}

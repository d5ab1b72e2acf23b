package dev.ringfetch.index.journal;

import java.io.IOException;

/** A check that the journal's directory still belongs to this process. */
@FunctionalInterface
public interface OwnerCheck {
  /**
   * Returns if it does. What was written before the call is then read by any later owner.
   *
   * @throws IOException if it does not, or if that is unknown, with the reason as its message
   */
  void check() throws IOException;
}

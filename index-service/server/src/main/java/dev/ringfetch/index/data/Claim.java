package dev.ringfetch.index.data;

/** The claim with which a server opens a data directory that was served elsewhere before. */
public enum Claim {
  /** None: the directory is where it was, and this host has not been booted since. */
  NONE,
  /**
   * It is the same directory, after another boot, on another host or behind another mount. The
   * caller knows that no process uses it.
   */
  TAKEOVER,
  /**
   * It is a copy, or an older state, of a directory that may be served elsewhere, or has been
   * since.
   */
  COPY
}

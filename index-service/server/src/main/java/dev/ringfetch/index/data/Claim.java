package dev.ringfetch.index.data;

/** The claim of a server that opens a data directory which was served elsewhere before. */
public enum Claim {
  /** No claim: the directory is at its former place, and this host was not rebooted since. */
  NONE,
  /**
   * It is the same directory, after another boot, on another host or behind another mount. The
   * caller knows that no process uses it.
   */
  TAKEOVER,
  /**
   * It is a copy, or an older state, of a directory that may be in use elsewhere, or was used
   * since.
   */
  COPY
}

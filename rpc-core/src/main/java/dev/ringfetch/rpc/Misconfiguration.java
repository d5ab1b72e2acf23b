package dev.ringfetch.rpc;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The log of settings with invalid values: each is logged once per process. Thread-safe. */
final class Misconfiguration {
  private static final Set<String> LOGGED = ConcurrentHashMap.newKeySet();

  private Misconfiguration() {}

  /** Logs this as a warning, unless it was logged before. */
  static void log(String what) {
    if (LOGGED.add(what)) {
      System.getLogger(Misconfiguration.class.getName()).log(System.Logger.Level.WARNING, what);
    }
  }
}

package dev.ringfetch.rpc;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Says what is set to something that means nothing, once a process. Thread-safe. */
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

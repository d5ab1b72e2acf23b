package dev.ringfetch.session;

/** Memory in which something happens just before one chosen access. */
final class InterleavedRegion extends WatchedRegion {
  private Runnable action;
  private int before = -1;

  InterleavedRegion(int length) {
    super(length);
  }

  /** Runs the action before the access of this number from now on. */
  void inject(int access, Runnable injected) {
    before = access;
    action = injected;
  }

  /** Injects no more. Returns false if it had not come to it. */
  boolean stop() {
    final boolean happened = before < 0;
    before = -1;
    return happened;
  }

  @Override
  void access() {
    if (before >= 0 && before-- == 0) {
      action.run();
    }
  }
}

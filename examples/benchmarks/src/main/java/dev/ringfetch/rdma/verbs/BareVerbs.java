package dev.ringfetch.rdma.verbs;

import java.io.IOException;

/**
 * Whether there are verbs here, for programs that use them without Ringfetch's fabric. It and its
 * neighbours stand in the package of the natives, which are nobody's API.
 */
public final class BareVerbs {
  private BareVerbs() {}

  /** Why there are none, in one line; empty if there are. */
  public static String unavailableBecause() {
    return NativeLibrary.unavailableBecause();
  }

  /**
   * Loads the native library, which has to be done before any class of DiSNI's is touched.
   *
   * @throws IOException with the reason where it cannot be loaded.
   */
  public static void require() throws IOException {
    NativeLibrary.require();
  }
}

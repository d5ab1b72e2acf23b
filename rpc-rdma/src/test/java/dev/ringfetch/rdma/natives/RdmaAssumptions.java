package dev.ringfetch.rdma.natives;

import org.opentest4j.TestAbortedException;

/**
 * Assumptions of tests about their host. A skipped test reports the reason, on the console, too.
 */
public final class RdmaAssumptions {
  private RdmaAssumptions() {}

  /** Needs the native library in the build. */
  public static void assumeBuilt() {
    if (NativeLibrary.class.getResource(NativeLibrary.resource()) == null
        && System.getProperty(NativeLibrary.PROPERTY) == null) {
      skip("the native library is not built: headers of libibverbs and librdmacm are missing");
    }
  }

  /** Needs a device. */
  public static void assumeDevice() {
    assumeBuilt();
    if (!NativeLibrary.available()) {
      skip(NativeLibrary.unavailableBecause());
    }
  }

  private static void skip(String reason) {
    System.out.println("skipped: " + reason);
    throw new TestAbortedException(reason);
  }
}

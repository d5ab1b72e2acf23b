package dev.ringfetch.session;

/** Fuzz target: a client's session under a hostile server. */
public final class ClientSessionFuzz {
  private ClientSessionFuzz() {}

  /** Runs one program. */
  public static void fuzzerTestOneInput(byte[] program) {
    new HostileServerWorld(new FuzzInput(program)).run();
  }

  /** Says what was done. */
  public static void fuzzerTearDown() {
    System.out.println(FuzzCounts.line("client"));
  }
}

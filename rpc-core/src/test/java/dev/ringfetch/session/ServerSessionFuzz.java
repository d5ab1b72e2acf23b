package dev.ringfetch.session;

/** Fuzz target: a server's session under a hostile client. */
public final class ServerSessionFuzz {
  private ServerSessionFuzz() {}

  /** Runs one program. */
  public static void fuzzerTestOneInput(byte[] program) {
    new HostileClientWorld(new FuzzInput(program)).run();
  }

  /** Says what was done. */
  public static void fuzzerTearDown() {
    System.out.println(FuzzCounts.line("server"));
  }
}

package dev.ringfetch.call;

/**
 * Fuzz target: what the call layer makes of units whose frames were in order. The first byte says
 * whose, the rest is flags, code and the unit.
 */
public final class CallFuzz {
  private static HostileRequests requests = new HostileRequests();
  private static HostileResponses responses = new HostileResponses();
  private static long executions;

  private CallFuzz() {}

  /** Has one unit read. */
  public static void fuzzerTestOneInput(byte[] program) {
    if (program.length < 4) {
      return;
    }
    executions++;
    final int flags = (program[1] & 0xFF) | (program[2] & 0xFF) << 8;
    final byte[] unit = new byte[program.length - 4];
    System.arraycopy(program, 4, unit, 0, unit.length);
    try {
      if ((program[0] & 1) == 0) {
        requests.read(flags, program[3] & 0xFF, unit);
      } else {
        responses.read(flags, program[3] & 0xFF, unit);
      }
    } catch (Throwable t) { // what follows is not to suffer from it
      requests = new HostileRequests();
      responses = new HostileResponses();
      throw t;
    }
  }

  /** Says what was done. */
  public static void fuzzerTearDown() {
    System.out.println(
        "fuzz: target=call frames="
            + executions
            + " executions="
            + executions
            + " requests="
            + HostileRequests.outcomes()
            + " responses="
            + HostileResponses.outcomes());
  }
}

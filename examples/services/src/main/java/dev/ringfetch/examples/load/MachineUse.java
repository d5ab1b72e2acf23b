package dev.ringfetch.examples.load;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The use of all processors of the machine so far, as Linux counts it, in ticks of 10 ms.
 *
 * @param busy in which they ran something.
 * @param stolen in which the host of a virtual machine had them.
 * @param all that have passed.
 */
public record MachineUse(long busy, long stolen, long all) {
  private static final Path STAT = Path.of("/proc/stat");
  private static final double TICK_NS = 10_000_000;

  // Of the first line, which sums all processors up: its words, the first of which is its name.
  private static final int USER = 1;
  private static final int IDLE = 4;
  private static final int IO_WAIT = 5;
  private static final int STEAL = 8; // what follows is part of what comes before

  /** The use so far. */
  public static MachineUse now() throws IOException {
    return parse(Files.readString(STAT));
  }

  static MachineUse parse(String stat) {
    final String[] words = stat.substring(0, stat.indexOf('\n')).split(" +", 0);
    long all = 0;
    for (int i = USER; i <= STEAL; i++) {
      all += Long.parseLong(words[i]);
    }
    final long stolen = Long.parseLong(words[STEAL]);
    final long rested = Long.parseLong(words[IDLE]) + Long.parseLong(words[IO_WAIT]);
    return new MachineUse(all - rested - stolen, stolen, all);
  }

  /** The use since a moment. */
  public MachineUse since(MachineUse before) {
    return new MachineUse(busy - before.busy, stolen - before.stolen, all - before.all);
  }

  /**
   * The part of the machine that other processes had, the host included, from 0 to 1.
   *
   * @param ownNs time on processors that is not somebody else's.
   */
  public double foreign(double ownNs) {
    if (all == 0) {
      return 0;
    }
    return Math.max(0, busy + stolen - ownNs / TICK_NS) / all;
  }
}

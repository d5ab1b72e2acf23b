package dev.ringfetch.soak;

import dev.ringfetch.soak.Fleet.Role;
import java.util.List;
import java.util.Random;

/**
 * One fault of the schedule.
 *
 * @param kind what happens.
 * @param victims to whom; they are killed, in this order, or stopped.
 * @param micros when or how long, see the kind.
 */
record Fault(Kind kind, List<Role> victims, int micros) {
  /** What happens. */
  enum Kind {
    /** Killed in the midst of calls. */
    KILL(40),
    /** Killed, started again, and killed again so long after it had begun to serve or call. */
    KILL_YOUNG(30),
    /** Stopped for so long. */
    STOP(15),
    /** Stopped for so long and killed while it stands. */
    STOP_KILL(15);

    private final int percent;

    Kind(int percent) {
      this.percent = percent;
    }

    int kills(int victims) {
      return switch (this) {
        case KILL, STOP_KILL -> victims;
        case KILL_YOUNG -> 2 * victims;
        case STOP -> 0;
      };
    }

    boolean stops() {
      return this == STOP || this == STOP_KILL;
    }
  }

  private static final int MAX_STOP_MICROS = 3_000_000;

  /** Longer than a handshake takes in a process that is still cold. */
  private static final int MAX_YOUNG_MICROS = 400_000;

  int kills() {
    return kind.kills(victims.size());
  }

  /** Draws the next one. */
  static Fault next(Random random) {
    int draw = random.nextInt(100);
    Kind kind = Kind.KILL;
    for (final Kind candidate : Kind.values()) {
      kind = candidate;
      draw -= candidate.percent;
      if (draw < 0) {
        break;
      }
    }
    final int micros =
        switch (kind) {
          case KILL -> 0;
          case KILL_YOUNG -> random.nextInt(1 + random.nextInt(MAX_YOUNG_MICROS));
          case STOP, STOP_KILL -> random.nextInt(1 + random.nextInt(MAX_STOP_MICROS));
        };
    return new Fault(kind, victims(kind, random), micros);
  }

  private static List<Role> victims(Kind kind, Random random) {
    if (kind == Kind.STOP) { // any process, also those that are never killed
      final Role[] all = Role.values();
      return List.of(all[random.nextInt(all.length)]);
    }
    return switch (random.nextInt(6)) {
      case 0, 1 -> List.of(Role.MORTAL_SERVER);
      case 2 -> List.of(Role.MORTAL);
      case 3 -> List.of(Role.VISITOR);
      case 4 ->
          random.nextBoolean()
              ? List.of(Role.MORTAL_SERVER, Role.MORTAL)
              : List.of(Role.MORTAL, Role.MORTAL_SERVER);
      default -> List.of(Role.MORTAL, Role.VISITOR, Role.MORTAL_SERVER);
    };
  }
}

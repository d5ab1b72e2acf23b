package dev.ringfetch.index.replication;

import dev.ringfetch.index.v1.Member;
import dev.ringfetch.index.v1.Node;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The pauses of a leader before it tries again with nodes that could not join, or did not stay: one
 * whose disk is full joins as often as it is let, and each time writes wait until it is taken out;
 * one that can never join costs a snapshot each time. The pause doubles each time. A process that
 * starts anew has none.
 *
 * <p>The leader's replica's owner only.
 */
final class Rejoins {
  /** The first pause. */
  static final long FIRST_NS = TimeUnit.SECONDS.toNanos(1);

  /** The longest pause. */
  static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(32);

  /** A member that was there for so long has stayed. */
  static final long STAY_NS = TimeUnit.SECONDS.toNanos(30);

  /** The failures and the pause of a process. */
  private static final class Absence {
    final long incarnation;
    boolean isMember;
    long joinedNs;
    int failures; // since it was a member
    long pauseNs; // 0: there was none
    long untilNs;

    Absence(long incarnation) {
      this.incarnation = incarnation;
    }

    void pause(long nowNs) {
      pauseNs = Math.min(LIMIT_NS, Math.max(FIRST_NS, 2 * pauseNs));
      untilNs = nowNs + pauseNs;
    }
  }

  private final Map<Long, Absence> absences = new HashMap<>();

  private Absence of(long node, long incarnation) {
    Absence known = absences.get(node);
    if (known == null || known.incarnation != incarnation) {
      known = new Absence(incarnation);
      absences.put(node, known);
    }
    return known;
  }

  /** A node has become a member. */
  void joined(Node node, long nowNs) {
    final Absence absence = of(node.getId(), node.getIncarnation());
    absence.isMember = true;
    absence.failures = 0;
    absence.joinedNs = nowNs;
  }

  /** A node could not join; returns how often that was so since it was a member. */
  int failed(Node node, long nowNs) {
    final Absence absence = of(node.getId(), node.getIncarnation());
    absence.pause(nowNs);
    return ++absence.failures;
  }

  /** A member was taken out. */
  void left(Member member, long nowNs) {
    final Absence absence = of(member.getNode(), member.getIncarnation());
    final boolean hasStayed = !absence.isMember || nowNs - absence.joinedNs >= STAY_NS;
    absence.isMember = false;
    if (hasStayed) {
      absence.pauseNs = 0;
      absence.untilNs = nowNs;
    } else {
      absence.pause(nowNs);
    }
  }

  /** Whether a node must be left alone now. */
  boolean isLeftAlone(Node node, long nowNs) {
    final Absence absence = absences.get(node.getId());
    return absence != null
        && absence.incarnation == node.getIncarnation()
        && nowNs - absence.untilNs < 0;
  }
}

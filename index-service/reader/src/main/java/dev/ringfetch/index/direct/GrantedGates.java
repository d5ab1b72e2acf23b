package dev.ringfetch.index.direct;

import dev.ringfetch.fabric.MemoryFaults;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.RemoteDomain;
import dev.ringfetch.index.layout.GatesDescriptor;
import dev.ringfetch.index.layout.MemberGates;
import dev.ringfetch.index.layout.PostedGates;
import dev.ringfetch.index.v1.GateMember;
import dev.ringfetch.index.v1.GateResponse;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * The gates of a replicated index's members under their grants: in mapped memory, or reached by
 * READs, each as its member's host allows.
 *
 * <p>Used by one thread at a time.
 */
final class GrantedGates implements AutoCloseable {
  /** Number of looks at gates per look at the grants. */
  static final int GRANT_LOOKS = 256;

  /**
   * How long READs at a node of a cluster may take at most. Longer than a card takes to send a lost
   * packet again (268 ms); shorter than the silence after which a member is removed, for which
   * calls wait as well.
   */
  static final long LIMIT_NS = TimeUnit.MILLISECONDS.toNanos(400);

  private static final int SPINS = 1000;

  private final List<Reached> members;
  private final MemberGates mapped; // null if none is mapped
  private final PostedGates posted; // null if all are mapped
  private final long limitNs;
  private boolean begun; // READs of the present read were posted
  private boolean granted = true;
  private int looks;
  private long endNs;

  /**
   * The gates of one member, mapped or not.
   *
   * @param domain closed with the gates
   * @param mapped null if the gates are not mapped
   * @param posted null if they are mapped
   */
  record Reached(RemoteDomain domain, MemberGates.Member mapped, PostedGates.Member posted) {
    private boolean isRevoked() {
      return domain.isRevoked();
    }
  }

  /**
   * Creates it.
   *
   * @param epoch of the group
   * @param members all of them
   * @param limitNs how long READs of a look may take, in nanoseconds
   */
  GrantedGates(long epoch, List<Reached> members, long limitNs) {
    this.members = List.copyOf(members);
    this.limitNs = limitNs;
    endNs = System.nanoTime() + Long.MAX_VALUE / 2;
    final List<MemberGates.Member> near =
        members.stream().map(Reached::mapped).filter(Objects::nonNull).toList();
    final List<PostedGates.Member> far =
        members.stream().map(Reached::posted).filter(Objects::nonNull).toList();
    mapped = near.isEmpty() && !far.isEmpty() ? null : new MemberGates(epoch, near);
    posted = far.isEmpty() ? null : new PostedGates(epoch, far);
  }

  /**
   * Reaches the gates of one member in its domain.
   *
   * @param granted the member's answer: the place and the values of its gates
   * @param limitNs how long a READ may take, in nanoseconds
   * @throws IOException if they are not gates or cannot be read, with the reason as its message
   */
  static Reached reach(RemoteDomain domain, GateMember member, GateResponse granted, long limitNs)
      throws IOException {
    final int number = domain.attach(granted.getSegment().toByteArray());
    final int place = granted.getPlace();
    final long process = granted.getEpoch();
    if (domain.length(number) != GatesDescriptor.LENGTH
        || place < 1
        || place > GatesDescriptor.PLACES) {
      throw new IOException("no gates: length=" + domain.length(number) + " place=" + place);
    }
    if (domain.capabilities().loadStore()) {
      checkMagic(domain.view(number));
      return new Reached(
          domain,
          new MemberGates.Member(
              domain.view(RemoteDomain.GATE), process, domain.view(number), place),
          null);
    }
    final String address = member.getAddress();
    final PostedGates magic =
        new PostedGates(
            GatesDescriptor.MAGIC,
            List.of(
                new PostedGates.Member(
                    address, domain, process, number, GatesDescriptor.MAGIC_OFFSET)));
    magic.post();
    await(magic, limitNs, System.nanoTime() + limitNs);
    if (!magic.wereOpen()) {
      throw new IOException("no gates: " + magic.obstacle());
    }
    return new Reached(
        domain,
        null,
        new PostedGates.Member(address, domain, process, number, GatesDescriptor.word(place)));
  }

  private static void checkMagic(MemoryRegion gates) throws IOException {
    try {
      final long magic = gates.getLongAcquire(GatesDescriptor.MAGIC_OFFSET);
      gates.verify();
      if (magic != GatesDescriptor.MAGIC) {
        throw new IOException("no gates: another magic number");
      }
    } catch (InternalError e) {
      MemoryFaults.absorb(gates, e);
      throw new IOException("no gates: another process has truncated the memory", e);
    }
  }

  /** Waits for a posted look, and gives it up when its time is over. */
  @SuppressWarnings("ThreadPriorityCheck") // a round trip that takes long leaves the processor
  private static void await(PostedGates looks, long limitNs, long endNs) {
    final long beginNs = System.nanoTime();
    for (int spins = 0; looks.isLooking(); spins++) {
      if (spins < SPINS) {
        Thread.onSpinWait();
        continue;
      }
      final long nowNs = System.nanoTime();
      if (nowNs - beginNs >= limitNs || nowNs - endNs >= 0) {
        looks.giveUp();
      } else {
        Thread.yield();
      }
    }
  }

  /** The looks at the gates if all are mapped; else null. */
  MemberGates mapped() {
    return posted == null ? mapped : null;
  }

  /** Limits all looks of the next read to half of the time until its deadline. */
  void until(long deadlineNs) {
    if (posted != null) {
      final long nowNs = System.nanoTime();
      endNs = nowNs + Math.max(0, deadlineNs - nowNs) / 2;
    }
  }

  /** Begins a read: results of earlier looks do not count for it. Posts READs. */
  void begin() {
    if (mapped != null) {
      mapped.begin();
    }
    if (posted != null) {
      posted.post();
      begun = true;
    }
  }

  /** Whether all gates are open: looks at them now, or waits for the READs under way. */
  boolean areOpen() {
    if (posted != null && !begun) {
      posted.post();
    }
    begun = false;
    if (mapped != null && !mapped.areOpen()) {
      return false;
    }
    if (posted != null) {
      await(posted, limitNs, endNs);
    }
    return (posted == null || posted.wereOpen()) && areGranted();
  }

  /** Whether all members obeyed the epoch at the last look of the read, if all gates are mapped. */
  boolean wereOpen() {
    return mapped.wereOpen() && areGranted();
  }

  /** The reason why the last look did not count; null if unknown. */
  String obstacle() {
    return posted == null || begun ? null : posted.obstacle();
  }

  /**
   * Whether no member has ended its grant, checked every {@value #GRANT_LOOKS} looks: the gates
   * alone decide whether reads count.
   */
  private boolean areGranted() {
    granted &= ++looks % GRANT_LOOKS != 0 || members.stream().noneMatch(Reached::isRevoked);
    return granted;
  }

  @Override
  public void close() {
    close(members);
  }

  /** Ends the connections to the gates of some members. */
  static void close(List<Reached> members) {
    members.forEach(member -> member.domain.close());
  }
}

package dev.ringfetch.index.direct;

import dev.ringfetch.fabric.RemoteDomain;
import dev.ringfetch.index.layout.GatesDescriptor;
import dev.ringfetch.index.layout.MemberGates;
import dev.ringfetch.index.v1.GateMember;
import java.io.IOException;
import java.util.List;

/**
 * The gates of a replicated index's members under their grants.
 *
 * <p>Used by one thread at a time.
 */
final class GrantedGates implements AutoCloseable {
  /** Looks at gates for one at the grants. */
  static final int GRANT_LOOKS = 256;

  private final List<Reached> members;
  private final MemberGates gates;
  private boolean granted = true;
  private int looks;

  /**
   * The gates of one member.
   *
   * @param domain closed with the gates
   */
  record Reached(RemoteDomain domain, MemberGates.Member gates) {
    private boolean isRevoked() {
      return domain.isRevoked();
    }
  }

  /**
   * Creates it.
   *
   * @param epoch of the group
   * @param members all of them
   */
  GrantedGates(long epoch, List<Reached> members) {
    this.members = List.copyOf(members);
    gates = new MemberGates(epoch, members.stream().map(Reached::gates).toList());
  }

  /**
   * Reaches the gates of one member in its domain.
   *
   * @param segment descriptor of the segment with the gates of its groups
   * @param place of the group among them
   * @throws IOException if they are none, or cannot be looked at, with the reason as its message
   */
  static Reached reach(RemoteDomain domain, GateMember member, byte[] segment, int place)
      throws IOException {
    if (!domain.capabilities().loadStore()) {
      throw new IOException("gates are looked at in mapped memory alone: domain=" + domain);
    }
    final int number = domain.attach(segment);
    if (domain.length(number) != GatesDescriptor.LENGTH
        || domain.view(number).getLongAcquire(GatesDescriptor.MAGIC_OFFSET) != GatesDescriptor.MAGIC
        || place < 1
        || place > GatesDescriptor.PLACES) {
      throw new IOException("no gates: length=" + domain.length(number) + " place=" + place);
    }
    return new Reached(
        domain,
        new MemberGates.Member(
            domain.view(RemoteDomain.GATE), member.getIncarnation(), domain.view(number), place));
  }

  /** The looks at the gates. */
  MemberGates gates() {
    return gates;
  }

  /** Looks at the gates now: whether all members obey the epoch. */
  boolean areOpen() {
    return gates.areOpen() && areGranted();
  }

  /** Whether all members obeyed the epoch at the last look of the read. */
  boolean wereOpen() {
    return gates.wereOpen() && areGranted();
  }

  /**
   * Whether no member has ended its grant, as far as this looks: now and then, as the gates alone
   * decide what counts.
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

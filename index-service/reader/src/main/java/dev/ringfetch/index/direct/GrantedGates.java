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
  private final List<Reached> members;
  private final MemberGates gates;

  /**
   * The gates of one member.
   *
   * @param domain closed with the gates
   */
  record Reached(RemoteDomain domain, MemberGates.Member gates) {}

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

  /** Whether all members obey the epoch, and none has ended its grant: after all earlier loads. */
  boolean areOpen() {
    if (!gates.areOpen()) {
      return false;
    }
    for (int i = 0; i < members.size(); i++) {
      if (members.get(i).domain.isRevoked()) {
        return false;
      }
    }
    return true;
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

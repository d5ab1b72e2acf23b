package dev.ringfetch.index.direct;

import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.RemoteDomain;
import dev.ringfetch.index.layout.GatesDescriptor;
import dev.ringfetch.index.layout.MemberGates;
import dev.ringfetch.index.v1.GateMember;
import dev.ringfetch.index.v1.GateResponse;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The gates of a replicated index's members under their grants.
 *
 * <p>Used by one thread at a time.
 */
final class GrantedGates implements AutoCloseable {
  private final List<RemoteDomain> domains = new ArrayList<>();
  private final List<MemberGates.Member> members = new ArrayList<>();
  private MemberGates gates; // null: not all are connected

  /** Creates it without members. */
  GrantedGates() {}

  /**
   * Connects to the gates of one member.
   *
   * @param granted the member's answer
   * @param token that the member was asked with
   * @throws IOException if they cannot be reached, with the reason as its message
   */
  void connect(Fabric fabric, GateMember member, GateResponse granted, byte[] token, long limitNs)
      throws IOException {
    final RemoteDomain domain =
        fabric.connectDomain(granted.getDomain().toByteArray(), token, limitNs);
    domains.add(domain);
    if (!domain.capabilities().loadStore()) {
      throw new IOException("gates are looked at in mapped memory alone: fabric=" + fabric.name());
    }
    final int segment = domain.attach(granted.getSegment().toByteArray());
    final int place = granted.getPlace();
    if (domain.length(segment) != GatesDescriptor.LENGTH
        || domain.view(segment).getLongAcquire(GatesDescriptor.MAGIC_OFFSET)
            != GatesDescriptor.MAGIC
        || place < 1
        || place > GatesDescriptor.PLACES) {
      throw new IOException("no gates: length=" + domain.length(segment) + " place=" + place);
    }
    members.add(
        new MemberGates.Member(
            domain.view(RemoteDomain.GATE), member.getIncarnation(), domain.view(segment), place));
  }

  /** All members are connected. */
  void complete(long epoch) {
    gates = new MemberGates(epoch, members);
  }

  /** Whether all members obey the epoch, and none has ended its grant: after all earlier loads. */
  boolean areOpen() {
    if (!gates.areOpen()) {
      return false;
    }
    for (int i = 0; i < domains.size(); i++) {
      if (domains.get(i).isRevoked()) {
        return false;
      }
    }
    return true;
  }

  @Override
  public void close() {
    domains.forEach(RemoteDomain::close);
  }
}

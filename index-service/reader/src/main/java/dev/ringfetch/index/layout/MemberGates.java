package dev.ringfetch.index.layout;

import dev.ringfetch.fabric.GateDescriptor;
import dev.ringfetch.fabric.MemoryFaults;
import dev.ringfetch.fabric.MemoryRegion;
import java.lang.invoke.VarHandle;
import java.util.List;

/**
 * The looks at the gates of a group's members that make reads of the leader's memory count.
 *
 * <p>A read counts if each member of the configuration was seen to obey its epoch after the read
 * began. The next leader is one of them, and it obeys its own epoch before it serves: what it
 * acknowledges comes after such a look. Each member has two words: the gate of its process, which a
 * successor on its data directory moves, and that of the group's replica.
 *
 * <p>Safe for use by many threads.
 */
public final class MemberGates {
  private final long epoch;
  private final List<Member> members;

  /**
   * The gates of one member, mapped.
   *
   * @param process the page of its process's gate
   * @param incarnation of the process that is a member
   * @param groups the gates of its groups
   * @param place of the group among them
   */
  public record Member(MemoryRegion process, long incarnation, MemoryRegion groups, int place) {}

  /**
   * Creates the looks at all members' gates.
   *
   * @param epoch of the group
   * @param members of the epoch's configuration, the leader among them
   */
  public MemberGates(long epoch, List<Member> members) {
    if (members.isEmpty()) {
      throw new IllegalArgumentException("no members: epoch=" + epoch);
    }
    this.epoch = epoch;
    this.members = List.copyOf(members);
  }

  /** Whether all members obey the epoch: after all earlier loads of this thread. */
  public boolean areOpen() {
    VarHandle.acquireFence();
    for (int i = 0; i < members.size(); i++) {
      if (!isOpen(members.get(i))) {
        return false;
      }
    }
    return true;
  }

  private boolean isOpen(Member member) {
    try {
      final long process = member.process.getLongAcquire(GateDescriptor.WORD_OFFSET);
      final long group = member.groups.getLongAcquire(GatesDescriptor.word(member.place));
      member.groups.verify();
      return process == member.incarnation && group == epoch;
    } catch (InternalError e) { // a successor has taken the memory away
      MemoryFaults.absorb(member.groups, e);
      return false;
    }
  }
}

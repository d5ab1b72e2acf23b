package dev.ringfetch.index.layout;

import dev.ringfetch.fabric.GateDescriptor;
import dev.ringfetch.fabric.MemoryFaults;
import dev.ringfetch.fabric.MemoryRegion;
import java.lang.invoke.VarHandle;
import java.util.List;

/**
 * The checks of the gates of a group's members, which decide whether reads of the leader's memory
 * count.
 *
 * <p>A read counts if each member of the configuration was seen to obey the epoch after the read
 * began. The next leader is one of these members, and it obeys its own epoch before it serves, so
 * all its acknowledgements come after such a look. Each member has two words: the gate of its
 * process, which a successor on its data directory moves, and the gate of the group's replica.
 *
 * <p>In mapped memory a look is part of the {@link Reads#verify} that ends a read, which detects
 * failures of earlier loads.
 *
 * <p>Used by one thread at a time.
 */
public final class MemberGates {
  private final long epoch;
  private final Member[] members;
  private boolean open; // whether all were open at the last look

  /**
   * The gates of one member, mapped.
   *
   * @param process the page of its process's gate
   * @param processEpoch value of that page until a successor of the process moves it
   * @param groups the gates of its groups
   * @param place of the group among them
   */
  public record Member(MemoryRegion process, long processEpoch, MemoryRegion groups, int place) {}

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
    this.members = members.toArray(Member[]::new);
  }

  /** Begins a read: results of earlier looks do not count for it. */
  public void begin() {
    open = false;
  }

  /**
   * Looks at all gates, after all earlier loads of this thread. The result counts if the caller
   * verifies the memory afterwards.
   */
  public void look() {
    VarHandle.acquireFence();
    boolean all = true;
    for (int i = 0; i < members.length; i++) {
      all &= isOpen(members[i]);
    }
    open = all;
  }

  private boolean isOpen(Member member) {
    // In this order: a successor first moves its predecessor's gate, and then removes its words.
    return member.process.getLongAcquire(GateDescriptor.WORD_OFFSET) == member.processEpoch
        && member.groups.getLongAcquire(GatesDescriptor.word(member.place)) == epoch;
  }

  /** Whether all members obeyed the epoch at the last look since {@link #begin}. */
  public boolean wereOpen() {
    return open;
  }

  /** Looks at all gates, and verifies that; returns whether all members obey the epoch. */
  public boolean areOpen() {
    final MemoryRegion any = members[0].groups;
    try {
      look();
      any.verify(); // any member: errors of the others' memory surface here, too
      return open;
    } catch (InternalError e) { // a successor has removed the memory
      MemoryFaults.absorb(any, e);
      open = false;
      return false;
    }
  }
}

package dev.ringfetch.index.layout;

import dev.ringfetch.fabric.CompletionQueue;
import dev.ringfetch.fabric.GateDescriptor;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.RemoteDomain;
import java.io.IOException;
import java.util.List;

/**
 * The checks of the gates of those members of a group whose memory is not mapped: READs of two
 * words at each member, posted to all members together. {@link MemberGates} explains the words, and
 * why they decide whether reads of the leader's memory count.
 *
 * <p>A look counts for a read that began before {@link #post}. Each word was in its member's memory
 * at some moment between that call and the READ's completion. These moments may differ between
 * members, and may come before or after the loads of the data, because gates never move back: until
 * its moment, the member had not obeyed another epoch. So no other leader had acknowledged a write,
 * and the leader's memory has all writes acknowledged so far.
 *
 * <p>A failed READ does not count as a look, nor does one without a completion when the look is
 * {@linkplain #giveUp given up}.
 *
 * <p>Used by one thread at a time; nothing blocks.
 */
public final class PostedGates {
  private static final int WORDS_LENGTH = 64;
  private static final int PROCESS_OFFSET = 0;
  private static final int GROUP_OFFSET = Long.BYTES;

  private final long expected;
  private final List<Member> members;
  private long looks;

  /**
   * Creates the looks at some members' gates.
   *
   * @param expected value of the groups' words: the epoch
   */
  public PostedGates(long expected, List<Member> members) {
    this.expected = expected;
    this.members = List.copyOf(members);
  }

  /** Begins a look, which replaces the one before: posts the READs of all members. */
  public void post() {
    looks++;
    for (final Member member : members) {
      member.post(looks);
    }
  }

  /** Processes completions; returns whether the look is under way at any member. */
  public boolean isLooking() {
    boolean any = false;
    for (final Member member : members) {
      any |= member.isLooking();
    }
    return any;
  }

  /** Whether the last look has ended at all members and found their gates open. */
  public boolean wereOpen() {
    return obstacle() == null;
  }

  /**
   * The first member whose gate was not found open by the last look, and why; null if there is
   * none.
   */
  public String obstacle() {
    for (final Member member : members) {
      final String obstacle = member.obstacle(expected);
      if (obstacle != null) {
        return obstacle + ": " + member.name;
      }
    }
    return null;
  }

  /**
   * Ends the look, and the connections to members that have not answered: their READs may complete
   * later.
   */
  public void giveUp() {
    members.forEach(Member::giveUp);
  }

  /** The gates of one member, behind a connection that only these looks use. */
  public static final class Member {
    private enum State {
      LOOKING,
      LOOKED,
      FAILED,
      GIVEN_UP
    }

    private final String name;
    private final RemoteDomain domain;
    private final long processEpoch;
    private final int segment;
    private final int offset;
    private final MemoryRegion words;
    private final CompletionQueue.Handler handler = this::onCompletion;
    private State state = State.FAILED; // there was no look
    private long look;

    /**
     * Creates it.
     *
     * @param name for messages
     * @param processEpoch value of the domain's gate until a successor moves it
     * @param segment with the gates of its groups, attached
     * @param offset of the group's word in it
     * @throws IOException if there is no memory for the words
     */
    public Member(String name, RemoteDomain domain, long processEpoch, int segment, int offset)
        throws IOException {
      this.name = name;
      this.domain = domain;
      this.processEpoch = processEpoch;
      this.segment = segment;
      this.offset = offset;
      words = domain.scratch(WORDS_LENGTH);
    }

    private void post(long number) {
      look = number;
      state = State.LOOKING;
      domain.cork();
      // Completions come in order: that of the second READ stands for both.
      final boolean posted =
          read(RemoteDomain.GATE, GateDescriptor.WORD_OFFSET, PROCESS_OFFSET, QueuePair.UNSIGNALED)
              && read(segment, offset, GROUP_OFFSET, number);
      domain.uncork();
      if (!posted) {
        state = State.FAILED;
      }
    }

    private boolean read(int from, int at, int to, long workRequestId) {
      return domain.read(from, at, words, to, Long.BYTES, workRequestId) == QueuePair.POSTED;
    }

    private boolean isLooking() {
      boolean more = true;
      while (more && state == State.LOOKING) {
        more = domain.completions().poll(handler, 1) > 0;
      }
      return state == State.LOOKING;
    }

    private void onCompletion(long workRequestId, int status, long value) {
      if (workRequestId == look) { // skips completions of looks that were given up
        state = status == QueuePair.SUCCESS ? State.LOOKED : State.FAILED;
      }
    }

    private String obstacle(long expected) {
      return switch (state) {
        case LOOKING, GIVEN_UP -> "the gate of a member was not read in time";
        case FAILED -> "the gate of a member cannot be read";
        case LOOKED ->
            words.getLongAcquire(PROCESS_OFFSET) != processEpoch
                ? "a member is another process"
                : words.getLongAcquire(GROUP_OFFSET) != expected
                    ? "a member obeys the epoch no more"
                    : null;
      };
    }

    private void giveUp() {
      if (state == State.LOOKING) {
        state = State.GIVEN_UP;
        domain.close();
      }
    }
  }
}

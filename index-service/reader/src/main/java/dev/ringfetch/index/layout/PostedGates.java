package dev.ringfetch.index.layout;

import dev.ringfetch.fabric.CompletionQueue;
import dev.ringfetch.fabric.GateDescriptor;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.RemoteDomain;
import java.io.IOException;
import java.util.List;

/**
 * The looks at the gates of those members of a group whose memory is not mapped: READs of two words
 * at each, those of all members under way together. {@link MemberGates} says which words these are,
 * and why they make reads of the leader's memory count.
 *
 * <p>A look counts for a read that began before {@link #post}. Each word stood in its member's
 * memory at some moment between that call and the READ's completion. These moments may differ
 * between members, and may come before or behind the loads of the data, as gates never move back:
 * before each of them the member had not obeyed another epoch, so nothing was acknowledged
 * elsewhere, and the leader's memory has at any time what it had acknowledged until then.
 *
 * <p>A READ that fails is no look, and one without a completion when the look is {@linkplain
 * #giveUp given up} is none either.
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

  /** Begins a look, in the place of the one before: hands the READs at all members over. */
  public void post() {
    looks++;
    for (final Member member : members) {
      member.post(looks);
    }
  }

  /** Takes completions; returns whether the look is under way at any member. */
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

  /** What the last look lacks, and of which member; null if nothing. */
  public String obstacle() {
    for (final Member member : members) {
      final String obstacle = member.obstacle(expected);
      if (obstacle != null) {
        return obstacle + ": " + member.name;
      }
    }
    return null;
  }

  /** Ends the look, and the connections of members where it is under way: READs may yet come. */
  public void giveUp() {
    members.forEach(Member::giveUp);
  }

  /** The gates of one member, behind a connection that the looks alone use. */
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
     * @param processEpoch what the domain's gate names while no successor has moved it
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
      if (workRequestId == look) { // not of a look that nobody has waited for
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

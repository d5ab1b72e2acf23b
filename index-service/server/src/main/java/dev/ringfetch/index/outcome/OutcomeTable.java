package dev.ringfetch.index.outcome;

import com.google.protobuf.ByteString;
import org.jspecify.annotations.Nullable;

/**
 * The kept outcomes of one partition, by client and number: an open hash table with linear probing,
 * whose home slots are in the order of the hashes. Each addition frees a few outcomes that clients
 * no longer need.
 *
 * <p>Used by the partition's owner alone. Allocates only for growth and before the first outcome.
 */
public final class OutcomeTable {
  /** Returned by {@link #find}: there is no such outcome. */
  public static final int NONE = -1;

  /** Limit of the bytes of an answer that an outcome keeps. */
  public static final int ANSWER_LIMIT = 16 << 10;

  /** Bytes of a slot. */
  private static final int SLOT_BYTES = 28;

  private static final int CAPACITY_MIN = 8;

  /** Number of slots that each addition checks. */
  private static final int SWEEP = 4;

  private static final int KIND_SHIFT = 48;
  private static final long POSITIVE = 1L << 56;
  private static final long LSN_MASK = (1L << KIND_SHIFT) - 1;

  private final OutcomeBudget budget;
  private NumberedClient[] clients = new NumberedClient[0]; // the length is a power of two, or 0
  private long[] numbers = new long[0];
  private long[] outcomes = new long[0]; // LSN, kind and whether positive
  private long[] details = new long[0];
  private @Nullable ByteString @Nullable [] answers; // null before the first one
  private int size;
  private int swept;

  /** Number of needed outcomes among those checked since the sweep began anew. */
  private int needed;

  /** Creates a table without outcomes. */
  public OutcomeTable(OutcomeBudget budget) {
    this.budget = budget;
  }

  /** Number of outcomes, some of which may be obsolete. */
  public int size() {
    return size;
  }

  /** Place of an outcome, valid until the table changes; or {@link #NONE}. */
  public int find(NumberedClient client, long number) {
    final int mask = clients.length - 1;
    if (mask < 0) {
      return NONE;
    }
    int slot = home(client, number);
    while (clients[slot] != null) {
      if (numbers[slot] == number && clients[slot] == client) {
        return slot;
      }
      slot = (slot + 1) & mask;
    }
    return NONE;
  }

  /** The home slot of an outcome, at which a search begins. */
  private int home(NumberedClient client, long number) {
    return client.hash(number) >>> shift();
  }

  /** Number of unused bits of a hash. */
  private int shift() {
    return Integer.numberOfLeadingZeros(clients.length) + 1;
  }

  /** Kind of the outcome at a place. */
  public OutcomeKind kind(int place) {
    return OutcomeKind.of((outcomes[place] >>> KIND_SHIFT) & 0xFF);
  }

  /** Whether the outcome at a place belongs to a put that created its entry. */
  public boolean isPositive(int place) {
    return (outcomes[place] & POSITIVE) != 0;
  }

  /** LSN of the record with the outcome. */
  public long lsn(int place) {
    return outcomes[place] & LSN_MASK;
  }

  /** Detail of the outcome at a place. */
  public long detail(int place) {
    return details[place];
  }

  /** The part of its answer that the outcome at a place keeps; empty if none. */
  public ByteString answer(int place) {
    return answers == null || answers[place] == null ? ByteString.EMPTY : answers[place];
  }

  /**
   * Keeps an answer, which takes the place of slots, if there is room; does nothing if it is empty.
   */
  public void keepAnswer(NumberedClient client, long number, ByteString answer) {
    final int slots = slots(answer);
    if (slots > 0 && budget.reserveForAnswer(slots)) {
      if (answers == null) {
        answers = new ByteString[clients.length];
      }
      answers[find(client, number)] = answer;
    }
  }

  private static int slots(ByteString answer) {
    return (answer.size() + SLOT_BYTES - 1) / SLOT_BYTES;
  }

  private void dropAnswer(int place) {
    budget.release(slots(answer(place)));
    if (answers != null) {
      answers[place] = null;
    }
  }

  /** Makes room for one more outcome, so that {@link #keep} cannot fail; false at the limit. */
  public boolean reserve() {
    sweep(SWEEP);
    if (hasRoom()) {
      return true;
    }
    freeAll();
    if (size < clients.length / 2) {
      return true;
    }
    final int more = Math.max(CAPACITY_MIN, clients.length);
    if (clients.length < 1 << 29 && budget.reserve(more)) {
      resize(clients.length + more);
    }
    return hasRoom();
  }

  /** Same, for an outcome from a journal: beyond the limit if necessary. */
  public void force() {
    if (!reserve()) {
      final int more = Math.max(CAPACITY_MIN, clients.length);
      budget.force(more);
      resize(clients.length + more);
    }
  }

  /** Whether there is room: a quarter stays free, so that each search ends. */
  private boolean hasRoom() {
    return size < clients.length - clients.length / 4;
  }

  /** Keeps an outcome; replaces one of the same client and number. */
  public void keep(
      NumberedClient client,
      long number,
      OutcomeKind kind,
      boolean isPositive,
      long lsn,
      long detail) {
    final int mask = clients.length - 1;
    int slot = home(client, number);
    while (clients[slot] != null && (numbers[slot] != number || clients[slot] != client)) {
      slot = (slot + 1) & mask;
    }
    if (clients[slot] == null) {
      size++;
    }
    dropAnswer(slot);
    clients[slot] = client;
    numbers[slot] = number;
    outcomes[slot] = (long) kind.number() << KIND_SHIFT | (isPositive ? POSITIVE : 0) | lsn;
    details[slot] = detail;
  }

  /** Advances a walk over the needed outcomes by one step. */
  public void step(OutcomeWalk walk) {
    if (clients.length == 0) {
      walk.next = OutcomeWalk.END;
    }
    int left = OutcomeWalk.STEP_PLACES;
    while (!walk.isDone() && left > 0 && walk.hasRoom()) {
      final int home = (int) (walk.next >>> shift());
      left -= 1 + addAll(home, walk);
      walk.next = (home + 1L) << shift();
    }
  }

  /** Adds the outcomes of one home slot; returns the number of places that it checked. */
  private int addAll(int home, OutcomeWalk walk) {
    final int mask = clients.length - 1;
    int slot = home;
    int looked = 0;
    while (clients[slot] != null) {
      if (home(clients[slot], numbers[slot]) == home && clients[slot].keeps(numbers[slot])) {
        walk.add(
            new KeptOutcome(
                clients[slot],
                numbers[slot],
                kind(slot),
                isPositive(slot),
                lsn(slot),
                details[slot],
                answer(slot)));
      }
      slot = (slot + 1) & mask;
      looked++;
    }
    return looked;
  }

  /** Drops all outcomes. */
  public void clear() {
    for (int i = 0; i < clients.length; i++) {
      dropAnswer(i);
    }
    answers = null;
    budget.release(clients.length);
    clients = new NumberedClient[0];
    numbers = new long[0];
    outcomes = new long[0];
    details = new long[0];
    size = 0;
    swept = 0;
    needed = 0;
  }

  /** Checks the next slots, and frees obsolete outcomes. */
  private void sweep(int slots) {
    for (int left = slots; left > 0 && size > 0; left--) {
      if (swept >= clients.length) {
        shrink();
        swept = 0;
        needed = 0;
      }
      final NumberedClient client = clients[swept];
      if (client != null && !client.keeps(numbers[swept])) {
        free(swept); // the outcome that moves here is checked next
      } else {
        needed += client == null ? 0 : 1;
        swept++;
      }
    }
  }

  private void shrink() {
    if (clients.length > CAPACITY_MIN && needed < clients.length / 16) {
      freeAll();
      final int capacity = Math.max(CAPACITY_MIN, clients.length / 4); // a power of two
      if (size < capacity / 2) {
        budget.release(clients.length - capacity);
        resize(capacity);
      }
    }
  }

  /** Frees all obsolete outcomes. */
  private void freeAll() {
    int slot = 0;
    while (slot < clients.length) {
      if (clients[slot] != null && !clients[slot].keeps(numbers[slot])) {
        free(slot);
      } else {
        slot++;
      }
    }
  }

  /** Frees a slot, and moves later outcomes of its probe sequence forward. */
  private void free(int freed) {
    dropAnswer(freed);
    final int mask = clients.length - 1;
    int hole = freed;
    int slot = (hole + 1) & mask;
    while (clients[slot] != null) {
      final int home = home(clients[slot], numbers[slot]);
      if (((slot - home) & mask) >= ((slot - hole) & mask)) {
        move(slot, hole);
        hole = slot;
      }
      slot = (slot + 1) & mask;
    }
    clients[hole] = null;
    size--;
  }

  private void move(int from, int to) {
    clients[to] = clients[from];
    numbers[to] = numbers[from];
    outcomes[to] = outcomes[from];
    details[to] = details[from];
    if (answers != null) {
      answers[to] = answers[from];
      answers[from] = null;
    }
  }

  private void resize(int capacity) {
    final NumberedClient[] oldClients = clients;
    final long[] oldNumbers = numbers;
    final long[] oldOutcomes = outcomes;
    final long[] oldDetails = details;
    final ByteString[] oldAnswers = answers;
    clients = new NumberedClient[capacity];
    numbers = new long[capacity];
    outcomes = new long[capacity];
    details = new long[capacity];
    answers = oldAnswers == null ? null : new ByteString[capacity];
    swept = 0;
    needed = 0;
    final int mask = capacity - 1;
    for (int i = 0; i < oldClients.length; i++) {
      if (oldClients[i] != null) {
        int slot = home(oldClients[i], oldNumbers[i]);
        while (clients[slot] != null) {
          slot = (slot + 1) & mask;
        }
        clients[slot] = oldClients[i];
        numbers[slot] = oldNumbers[i];
        outcomes[slot] = oldOutcomes[i];
        details[slot] = oldDetails[i];
        if (oldAnswers != null) {
          answers[slot] = oldAnswers[i];
        }
      }
    }
  }
}

package dev.ringfetch.index.linearizability;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.linearizability.Call.Kind;
import dev.ringfetch.index.v1.Entry;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Histories of one key that are linearizable because of how they are made: the operations are
 * carried out one after the other, and each is said to have begun some time before and to have been
 * answered some time after. Some are open: of these every other is not carried out at all.
 */
final class GoodHistory {
  private static final ByteString KEY = ByteString.copyFromUtf8("key");

  /** Between two operations, of which so many are under way at a time, about. */
  private static final int STEP_NS = 100;

  private static final int CONCURRENT = 4;
  private static final int OPEN_EVERY = 100;

  private final Random random;
  private final List<Operation> history = new ArrayList<>();
  private Entry entry; // null: absent
  private long lastVersion;
  private long lastSeen;

  private GoodHistory(long seed) {
    random = new Random(seed);
  }

  /** Makes so many operations, in the order in which they took effect. */
  static List<Operation> make(long seed, int size) {
    final GoodHistory history = new GoodHistory(seed);
    for (int i = 1; i <= size; i++) {
      history.add(i);
    }
    return List.copyOf(history.history);
  }

  private void add(int number) {
    final long effectNs = (long) number * STEP_NS;
    final Call call = draw(number);
    final boolean open = random.nextInt(OPEN_EVERY) == 0;
    final Answer answer = open && random.nextBoolean() ? Answer.OPEN : carryOut(call);
    history.add(
        new Operation(
            0,
            call,
            open ? Answer.OPEN : answer,
            random.nextBoolean(),
            effectNs - random.nextInt(CONCURRENT * STEP_NS),
            effectNs + random.nextInt(CONCURRENT * STEP_NS)));
  }

  private Call draw(int number) {
    return switch (random.nextInt(10)) {
      case 0, 1, 2, 3 -> Call.read(Kind.GET);
      case 4, 5 -> Call.put(number);
      case 6 -> Call.delete();
      default -> Call.compareAndSet(random.nextInt(5) == 0 ? 0 : lastSeen, number);
    };
  }

  private Answer carryOut(Call call) {
    final ByteString value = Values.bytes(call.value());
    final Answer answer =
        switch (call.kind()) {
          case GET, BATCH_GET -> answer(entry != null, entry);
          case PUT, BATCH_PUT -> {
            final boolean created = entry == null;
            write(value);
            yield new Answer(created, lastVersion, 0);
          }
          case DELETE -> {
            final boolean existed = entry != null;
            entry = null;
            yield new Answer(existed, 0, 0);
          }
          case REMOVAL -> throw new AssertionError(call);
          case COMPARE_AND_SET -> {
            final long version = entry == null ? 0 : entry.getVersion();
            final boolean applied = version == call.expected();
            if (applied) {
              write(value);
            }
            yield answer(applied, entry);
          }
        };
    lastSeen = answer.version();
    return answer;
  }

  private void write(ByteString value) {
    lastVersion++;
    entry = Entry.newBuilder().setKey(KEY).setValue(value).setVersion(lastVersion).build();
  }

  private static Answer answer(boolean yes, Entry entry) {
    return entry == null
        ? new Answer(yes, 0, 0)
        : new Answer(yes, entry.getVersion(), Values.number(entry.getValue()));
  }
}

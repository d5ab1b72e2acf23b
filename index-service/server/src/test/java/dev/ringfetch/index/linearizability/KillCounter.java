package dev.ringfetch.index.linearizability;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.CounterDescriptor;
import dev.ringfetch.index.v1.Entry;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A counter in an index that keeps all that it has answered: the answers of all clients that have
 * added one, in all lives of the server. No two are the same, none is below one that came before
 * its call, and in the end as many were answered as it has counted. Thread-safe.
 */
final class KillCounter {
  /** The key of the counter. */
  static final ByteString KEY = ByteString.copyFromUtf8("counter");

  /** Accounts among which transactions move what they have; together they have nothing. */
  static final int ACCOUNTS = 4;

  private final Set<Long> answers = ConcurrentHashMap.newKeySet();
  private final AtomicLong largest = new AtomicLong();

  /** The key of an account: it has the tag of the counter. */
  static ByteString account(int number) {
    return ByteString.copyFromUtf8("{counter}" + number);
  }

  /** Checks all accounts of one moment; an account that was never moved to has no entry. */
  static void checkAccounts(List<Entry> accounts) {
    final long sum =
        accounts.stream()
            .filter(entry -> entry.getVersion() != 0)
            .mapToLong(entry -> CounterDescriptor.number(entry.getValue()))
            .sum();
    if (sum != 0) {
      throw new AssertionError("a part of a transaction: sum=" + sum + " " + accounts);
    }
  }

  /** The largest answer so far: later calls have larger ones. */
  long floor() {
    return largest.get();
  }

  /** Notes an answer to a call that began after the floor was read. */
  void answered(long floor, long counter) {
    if (counter <= floor || !answers.add(counter)) {
      throw new AssertionError("counter=" + counter + " after " + floor + ", or a second time");
    }
    largest.accumulateAndGet(counter, Math::max);
  }

  /** Checks what it has counted, after all calls were answered; returns their number. */
  long check(long found) {
    if (found != answers.size() || found != largest.get()) {
      throw new AssertionError(
          "counter=" + found + " answers=" + answers.size() + " largest=" + largest);
    }
    return found;
  }
}

package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Accounts of an index among which transactions transfer, by any number of threads: the sum of all
 * accounts is the same for each transaction, none is below 0, and each transfer is counted once.
 */
final class Bank {
  private static final int ACCOUNTS = 5;
  private static final long BALANCE = 100;
  private static final String TRANSFERS = "{bank}.transfers";

  private final KeyedIndex<String, Long> index;
  private final AtomicLong answered = new AtomicLong();

  Bank(KeyedIndex<String, Long> index) {
    this.index = index;
  }

  private static String account(int number) {
    return "{bank}." + number;
  }

  /** Opens all accounts, once. */
  void open() {
    assertTrue(
        index
            .transaction()
            .when(c -> c.absent(account(0)))
            .then(
                t -> {
                  for (int i = 0; i < ACCOUNTS; i++) {
                    t.put(account(i), BALANCE);
                  }
                })
            .commit()
            .succeeded());
  }

  /** Transfers an amount, if the account has it. */
  void transfer(Random random) {
    final int from = random.nextInt(ACCOUNTS);
    final int to = (from + 1 + random.nextInt(ACCOUNTS - 1)) % ACCOUNTS;
    final long amount = random.nextInt(60);
    final long floor = answered.get();
    final TransactionResult<String, Long> result =
        index
            .transaction()
            .when(c -> c.valueGreater(account(from), amount - 1))
            .then(t -> t.increment(TRANSFERS, 1))
            .then(t -> t.increment(account(from), -amount).increment(account(to), amount))
            .otherwise(t -> t.increment(TRANSFERS, 1).get(account(from)))
            .commit();
    assertTrue(result.answers().get(0).counter() > floor);
    assertTrue(result.succeeded() || result.value(1).orElseThrow() < amount);
    answered.incrementAndGet();
  }

  /** Reads all accounts in one transaction. */
  void check() {
    final TransactionResult<String, Long> result =
        index
            .transaction()
            .then(
                t -> {
                  for (int i = 0; i < ACCOUNTS; i++) {
                    t.get(account(i));
                  }
                })
            .commit();
    long sum = 0;
    for (int i = 0; i < ACCOUNTS; i++) {
      final long balance = result.value(i).orElseThrow();
      assertTrue(balance >= 0, "balance=" + balance);
      sum += balance;
    }
    assertEquals(ACCOUNTS * BALANCE, sum, "a part of a transaction");
  }

  /** Checks that each answered transfer was counted once, after all were answered. */
  void checkCount() {
    check();
    assertEquals(Optional.of(answered.get()), index.get(TRANSFERS));
  }

  long answered() {
    return answered.get();
  }
}

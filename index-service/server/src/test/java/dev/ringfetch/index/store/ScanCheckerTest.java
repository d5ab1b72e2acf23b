package dev.ringfetch.index.store;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.store.ScanChecker.Result;
import dev.ringfetch.index.store.ScanChecker.Scan;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The checker of scans finds what breaks their contract. */
class ScanCheckerTest {
  private final ScanChecker checker = new ScanChecker();

  private static ByteString key(String name) {
    return ByteString.copyFromUtf8(name);
  }

  @BeforeEach
  void write() {
    checker.became(key("a"), 1, 10, 11);
    checker.became(key("b"), 2, 12, 13);
    checker.became(key("c"), 3, 14, 15);
    checker.became(key("b"), 0, 20, 21);
    checker.became(key("c"), 4, 22, 23);
    checker.became(key("b"), 5, 24, 25);
  }

  private static Scan scan(long from, long to, Result... results) {
    return new Scan(false, ByteString.EMPTY, ByteString.EMPTY, Arrays.asList(results), from, to);
  }

  private static Result result(String key, long version) {
    return new Result(key(key), version);
  }

  private void refused(String why, Scan scan) {
    final AssertionError error = assertThrows(AssertionError.class, () -> checker.check(scan));
    assertTrue(error.getMessage().startsWith(why + ": "), error::getMessage);
  }

  @Test
  void goodScansPass() {
    checker.check(scan(0, 5));
    checker.check(scan(16, 18, result("a", 1), result("b", 2), result("c", 3)));
    checker.check(scan(16, 20, result("a", 1), result("c", 3)));
    checker.check(scan(16, 20, result("a", 1), result("b", 2), result("c", 3)));
    checker.check(scan(21, 23, result("a", 1), result("b", 2), result("c", 4)));
    final List<Result> reverse = Arrays.asList(result("c", 4), result("b", 5));
    checker.check(new Scan(true, key("b"), key("d"), reverse, 30, 31));
  }

  @Test
  void brokenScansDoNot() {
    refused("was there", scan(16, 18, result("a", 1), result("c", 3)));
    refused("was there", scan(26, 28));
    refused("not in order", scan(16, 18, result("a", 1), result("c", 3), result("b", 2)));
    refused("not in order", scan(16, 18, result("a", 1), result("b", 2), result("b", 2)));
    refused("was not so", scan(16, 18, result("a", 1), result("b", 2), result("c", 4)));
    refused("was not so", scan(26, 28, result("a", 1), result("b", 2), result("c", 4)));
    refused("was not so", scan(16, 18, result("a", 7)));
    refused("was not so", scan(16, 18, result("aa", 1)));
    refused(
        "not in the range",
        new Scan(false, key("b"), ByteString.EMPTY, List.of(result("a", 1)), 16, 18));
    refused(
        "not in order",
        new Scan(
            true,
            ByteString.EMPTY,
            ByteString.EMPTY,
            Arrays.asList(result("b", 2), result("c", 3)),
            16,
            18));
  }
}

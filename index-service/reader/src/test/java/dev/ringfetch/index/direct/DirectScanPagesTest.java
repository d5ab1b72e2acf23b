package dev.ringfetch.index.direct;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.Field;
import dev.ringfetch.index.v1.FieldComparison;
import dev.ringfetch.index.v1.Filter;
import dev.ringfetch.index.v1.KeyRange;
import dev.ringfetch.index.v1.ScanRequest;
import dev.ringfetch.index.v1.ScanResponse;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Scans that go on by pages: what they ask for, and which pages they take. */
final class DirectScanPagesTest {
  private static final ByteString TOKEN = bytes("token");

  private static ByteString bytes(String text) {
    return ByteString.copyFromUtf8(text);
  }

  private static ScanResponse page(ByteString token, long incarnation, String... keys) {
    final ScanResponse.Builder page =
        ScanResponse.newBuilder().setNextPageToken(token).setIncarnation(incarnation);
    for (final String key : keys) {
      page.addEntries(Entry.newBuilder().setKey(bytes(key)));
    }
    return page.build();
  }

  private static Filter.Builder some() {
    return Filter.newBuilder()
        .setComparison(
            FieldComparison.newBuilder()
                .setField(Field.newBuilder().setSource(Field.Source.KEY))
                .setBytes(bytes("m")));
  }

  private static void assertFails(Status.Code code, DirectScan scan, ScanResponse page) {
    final StatusRuntimeException failure =
        assertThrows(StatusRuntimeException.class, () -> scan.answered(page));
    assertEquals(code, failure.getStatus().getCode());
  }

  private static DirectScan scan(boolean reverse) {
    return new DirectScan(
        ScanRequest.newBuilder()
            .setRange(KeyRange.newBuilder().setStart(bytes("b")).setEnd(bytes("y")))
            .setReverse(reverse)
            .setLimit(3)
            .setKeysOnly(true)
            .build());
  }

  @Test
  void eachRequestIsForWhatIsLeft() {
    final DirectScan scan = scan(false);
    assertEquals(bytes("b"), scan.request("i").getRange().getStart());
    assertEquals("i", scan.request("i").getIndex());
    scan.answered(page(TOKEN, 1, "c", "d"));
    assertEquals(1, scan.incarnation());
    final ScanRequest rest = scan.request("i");
    assertEquals(bytes("d\0"), rest.getRange().getStart());
    assertEquals(bytes("y"), rest.getRange().getEnd());
    assertEquals(1, rest.getLimit());
    assertTrue(rest.getKeysOnly());
    assertFalse(scan.isDone());
    scan.answered(page(TOKEN, 1, "e"));
    assertTrue(scan.isDone(), "all that the limit allows");

    final DirectScan reverse = scan(true);
    reverse.answered(page(TOKEN, 1, "x", "w"));
    assertEquals(bytes("b"), reverse.request("i").getRange().getStart());
    assertEquals(bytes("w"), reverse.request("i").getRange().getEnd());
    reverse.answered(page(ByteString.EMPTY, 1));
    assertTrue(reverse.isDone());
  }

  /** The server filters, and may look at many entries for a page without one. */
  @Test
  void scanWithAFilterGoesByTokens() {
    final DirectScan scan =
        new DirectScan(ScanRequest.newBuilder().setLimit(3).setFilter(some()).build());
    assertFalse(scan.isCalled());
    assertTrue(scan.request("i").hasFilter());
    scan.answered(page(TOKEN, 1));
    assertTrue(scan.isCalled());
    assertEquals(TOKEN, scan.request("i").getPageToken());
    assertFails(Status.Code.INTERNAL, scan, page(TOKEN, 1));
    scan.answered(page(bytes("next"), 1, "c", "d"));
    assertEquals(bytes("next"), scan.request("i").getPageToken());
    assertEquals(1, scan.request("i").getLimit());
    assertFails(Status.Code.ABORTED, scan, page(ByteString.EMPTY, 2));
    scan.answered(page(ByteString.EMPTY, 1));
    assertTrue(scan.isDone());
  }

  /** The entries that a sink has left of a page come again, and no others. */
  @Test
  void pageThatASinkLeavesIsReadOn() {
    for (final boolean reverse : new boolean[] {false, true}) {
      for (final ByteString token : List.of(TOKEN, ByteString.EMPTY)) {
        final DirectScan scan =
            new DirectScan(ScanRequest.newBuilder().setReverse(reverse).setFilter(some()).build());
        final ScanResponse page =
            reverse ? page(token, 1, "d", "c", "b") : page(token, 1, "b", "c", "d");
        final List<String> taken = new ArrayList<>();
        final boolean goesOn =
            new ScanStep()
                .take(
                    scan,
                    entry -> {
                      taken.add(entry.key().toStringUtf8());
                      return taken.size() < 2;
                    },
                    page);
        assertFalse(goesOn);
        assertFalse(scan.isDone());
        assertEquals(List.of(reverse ? "d" : "b", "c"), taken);
        final KeyRange rest = scan.request("i").getRange();
        assertEquals(
            reverse ? bytes("c") : bytes("c\0"), reverse ? rest.getEnd() : rest.getStart());
        assertEquals(ByteString.EMPTY, scan.request("i").getPageToken());
        scan.answered(reverse ? page(token, 1, "b") : page(token, 1, "d"));
        assertEquals(token.isEmpty(), scan.isDone());
      }
    }
  }

  /** A server that answers with something else does not lead a scan in a circle. */
  @Test
  void pageOfSomethingElseEndsTheScan() {
    for (boolean reverse : new boolean[] {false, true}) {
      final DirectScan scan = scan(reverse);
      scan.answered(page(TOKEN, 1, "m"));
      assertFails(Status.Code.INTERNAL, scan, page(TOKEN, 1, "m"));
      assertFails(Status.Code.INTERNAL, scan, page(TOKEN, 1, reverse ? "n" : "l"));
      assertFails(Status.Code.INTERNAL, scan, page(TOKEN, 1, reverse ? "a" : "z"));
      assertFails(Status.Code.INTERNAL, scan, page(TOKEN, 1));
      assertFails(Status.Code.ABORTED, scan, page(TOKEN, 2, reverse ? "l" : "n"));
      assertFails(Status.Code.ABORTED, scan, page(ByteString.EMPTY, 0));
      scan.answered(page(TOKEN, 1, reverse ? "l" : "n"));
    }
  }
}

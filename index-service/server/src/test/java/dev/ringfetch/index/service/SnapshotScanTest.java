package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.LocalServer;
import dev.ringfetch.index.call.RangeCalls;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.DeleteRangeRequest;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.KeyRange;
import dev.ringfetch.index.v1.PutEntry;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.ScanRequest;
import dev.ringfetch.index.v1.ScanResponse;
import io.grpc.Context;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A scan of a snapshot is of one moment, whatever is written meanwhile. */
class SnapshotScanTest {
  private static final int VALUE_LENGTH = 20 << 10;

  /** Entries whose values fit into what a snapshot keeps, but into no buffer. */
  private static final int ENTRIES = 600;

  private static final int ROUND = 3000;

  private LocalServer server;
  private IndexGrpc.IndexBlockingStub stub;

  @BeforeEach
  void start() throws IOException {
    server = LocalServer.start();
    stub = IndexGrpc.newBlockingStub(server.channel()).withDeadlineAfter(60, TimeUnit.SECONDS);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private static ByteString key(int number) {
    return ByteString.copyFromUtf8(String.format("key %06d", number));
  }

  private void fill(int entries, int content) {
    final byte[] bytes = new byte[VALUE_LENGTH];
    bytes[0] = (byte) content;
    final ByteString value = ByteString.copyFrom(bytes);
    for (int i = 0; i < entries; i += 100) {
      final BatchPutRequest.Builder batch = BatchPutRequest.newBuilder().setIndex("o");
      for (int j = i; j < Math.min(i + 100, entries); j++) {
        batch.addEntries(PutEntry.newBuilder().setKey(key(j)).setValue(value));
      }
      assertTrue(
          stub.batchPut(batch.build()).getOutcomesList().stream().allMatch(o -> o.getCode() == 0));
    }
  }

  private static ScanRequest.Builder scan() {
    return ScanRequest.newBuilder().setIndex("o").setSnapshot(true);
  }

  private static List<Entry> entries(Iterator<ScanResponse> pages) {
    final List<Entry> entries = new ArrayList<>();
    pages.forEachRemaining(page -> entries.addAll(page.getEntriesList()));
    return entries;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void writesDuringTheScanAreNotSeen(boolean reverse) {
    fill(ENTRIES, 1);
    final List<Entry> before = entries(stub.scan(scan().build()));
    assertEquals(ENTRIES, before.size());
    final Iterator<ScanResponse> pages = stub.scan(scan().setReverse(reverse).build());
    final List<Entry> found = new ArrayList<>(pages.next().getEntriesList());
    final KeyRange some = KeyRange.newBuilder().setStart(key(50)).setEnd(key(400)).build();
    assertEquals(
        350,
        stub.deleteRange(DeleteRangeRequest.newBuilder().setIndex("o").setRange(some).build())
            .getRemoved());
    fill(ENTRIES + 50, 2);
    fill(ENTRIES + 50, 3);
    for (int i = 0; i < ENTRIES; i++) { // between those that are there
      final ByteString key = key(i).concat(ByteString.copyFromUtf8("+"));
      stub.put(PutRequest.newBuilder().setIndex("o").setKey(key).build());
    }
    found.addAll(entries(pages));
    if (reverse) {
      Collections.reverse(found);
    }
    assertEquals(before, found);
    final List<Entry> now = entries(stub.scan(scan().setKeysOnly(true).build()));
    assertEquals(2 * ENTRIES + 50, now.size());
    assertTrue(now.stream().allMatch(entry -> entry.getValue().isEmpty()));
    assertEquals(
        now.subList(0, 7),
        stub.scanPage(scan().setKeysOnly(true).setPageSize(7).build()).getEntriesList());
  }

  @Test
  void snapshotIsGivenUpWhereTooMuchIsWritten() {
    fill(ENTRIES + 300, 1);
    final Iterator<ScanResponse> pages = stub.scan(scan().build());
    pages.next();
    fill(ENTRIES + 300, 2);
    final StatusRuntimeException aborted =
        assertThrows(StatusRuntimeException.class, () -> entries(pages));
    assertEquals(Status.Code.ABORTED, aborted.getStatus().getCode());
    assertEquals(
        "too much was written during the scan of a snapshot: limit=16777216 bytes of replaced"
            + " entries",
        aborted.getStatus().getDescription());
  }

  /** Scans that a client leaves give their snapshots back. */
  @Test
  void cancelledSnapshotsAreNotCounted() {
    fill(200, 1);
    for (int i = 0; i < 3 * RangeCalls.MAX_SNAPSHOTS; i++) {
      final Context.CancellableContext context = Context.current().withCancellation();
      context.run(() -> assertEquals(key(0), first()));
      context.cancel(null);
    }
    assertEquals(200, entries(stub.scan(scan().build())).size());
  }

  private ByteString first() {
    while (true) {
      try {
        return stub.scan(scan().build()).next().getEntries(0).getKey();
      } catch (StatusRuntimeException e) { // the last ones' ends are under way
        assertEquals(
            "overloaded: too many scans of snapshots: limit=16; nothing was done, send again",
            e.getStatus().getDescription());
      }
    }
  }

  /** Numbers are written round and round: at each moment the keys have consecutive ones. */
  @Test
  void snapshotsAreOfOneMoment() throws Exception {
    final AtomicBoolean done = new AtomicBoolean();
    final AtomicInteger written = new AtomicInteger(ROUND);
    final ExecutorService threads = Executors.newSingleThreadExecutor();
    try {
      write(0, ROUND);
      final Future<?> writer =
          threads.submit(
              () -> {
                while (!done.get()) {
                  final int next = written.get();
                  write(next, next + 100);
                  written.set(next + 100);
                }
                return null;
              });
      for (int i = 0; i < 60 || (written.get() <= 2 * ROUND && !writer.isDone()); i++) {
        final List<Entry> entries =
            entries(stub.scan(scan().setReverse(i % 2 == 0).setPageSize(300).build()));
        assertEquals(ROUND, entries.size());
        long least = Long.MAX_VALUE;
        long most = 0;
        for (Entry entry : entries) {
          final long number = Long.parseLong(entry.getValue().toStringUtf8());
          assertEquals(key((int) (number % ROUND)), entry.getKey());
          least = Math.min(least, number);
          most = Math.max(most, number);
        }
        assertEquals(ROUND - 1, most - least, "scan=" + i);
      }
      done.set(true);
      writer.get(60, TimeUnit.SECONDS);
      System.out.println("written=" + written);
    } finally {
      done.set(true);
      threads.shutdownNow();
    }
  }

  private void write(int from, int to) {
    final BatchPutRequest.Builder batch = BatchPutRequest.newBuilder().setIndex("o");
    for (int i = from; i < to; i++) {
      batch.addEntries(
          PutEntry.newBuilder()
              .setKey(key(i % ROUND))
              .setValue(ByteString.copyFromUtf8(Integer.toString(i))));
    }
    stub.batchPut(batch.build());
  }
}

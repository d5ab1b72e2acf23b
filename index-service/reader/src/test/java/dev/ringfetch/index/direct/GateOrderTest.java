package dev.ringfetch.index.direct;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.GateDescriptor;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.GatesDescriptor;
import dev.ringfetch.index.layout.MemberGates;
import dev.ringfetch.index.layout.OrderedReader;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.layout.SegmentReads;
import dev.ringfetch.index.v1.GateMember;
import dev.ringfetch.index.v1.GateResponse;
import dev.ringfetch.index.v1.KeyRange;
import dev.ringfetch.index.v1.ScanRequest;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** When a reader of a replicated index looks at the members' gates, whose owners move them. */
final class GateOrderTest {
  private static final long EPOCH = 5;
  private static final long PROCESS = 3;
  private static final int PLACE = 2;

  private final CardDomain memory = new CardDomain();
  private final HandmadeTree tree = new HandmadeTree(memory, false);
  private final List<CardDomain> connections = new ArrayList<>();
  private final List<DirectRegion> gates = new ArrayList<>();
  private final List<GrantedGates.Reached> reached = new ArrayList<>();
  private final Found found = new Found();

  private GrantedIndex open(int members) throws IOException {
    reached.clear();
    for (int i = 0; i < members; i++) {
      final DirectRegion process = new DirectRegion(GateDescriptor.LENGTH);
      process.putLong(GateDescriptor.WORD_OFFSET, PROCESS);
      final DirectRegion groups = new DirectRegion(GatesDescriptor.LENGTH);
      gates.add(groups);
      move(i, EPOCH);
      connections.add(new CardDomain());
      reached.add(
          new GrantedGates.Reached(
              connections.get(i), new MemberGates.Member(process, PROCESS, groups, PLACE), null));
    }
    return GrantedIndex.connect(
        new OneDomainFabric(memory),
        HandmadeTree.grant(),
        new GrantedGates(EPOCH, reached, 1_000_000_000),
        new GrantedIndex.Limits(1_000_000_000, 1_000_000_000, 16));
  }

  private void move(int member, long epoch) {
    gates.get(member).putLong(GatesDescriptor.word(PLACE), epoch);
  }

  private ReadResult get(GrantedIndex index) {
    return index.get(tree.key(1), found);
  }

  @Test
  void openGatesLetReadsCount() throws IOException {
    final GrantedIndex index = open(3);
    assertEquals(ReadResult.FOUND, get(index));
    final Found[] several = {found, new Found()};
    final ReadResult[] results = new ReadResult[2];
    index.batchGet(List.of(tree.key(1), tree.key(2)), several, results);
    assertEquals(List.of(ReadResult.FOUND, ReadResult.FOUND), List.of(results));
  }

  @Test
  void gateThatMovesBehindTheDataTurnsTheReadAway() throws IOException {
    for (int member = 0; member < 3; member++) {
      final int moved = member;
      final GrantedIndex index = open(3);
      assertEquals(ReadResult.FOUND, get(index));
      memory.loaded = () -> move(moved, EPOCH + 1);
      assertEquals(ReadResult.CLOSED, get(index), "member=" + member);
      memory.loaded = () -> {};
      gates.clear();
      connections.clear();
    }
  }

  @Test
  void gateThatMovesBehindTheDataTurnsAllReadsOfABatchAway() throws IOException {
    final GrantedIndex index = open(2);
    final Found[] several = {found, new Found()};
    final ReadResult[] results = new ReadResult[2];
    memory.loaded = () -> move(1, -EPOCH);
    index.batchGet(List.of(tree.key(1), tree.key(2)), several, results);
    assertEquals(List.of(ReadResult.CLOSED, ReadResult.CLOSED), List.of(results));
  }

  @Test
  void memberThatEndsItsGrantTurnsReadsAway() throws IOException {
    final GrantedIndex index = open(3);
    connections.get(2).closed = true;
    for (int i = 1; i < GrantedGates.GRANT_LOOKS; i++) {
      assertEquals(ReadResult.FOUND, get(index), "the gates alone decide what counts");
    }
    assertEquals(ReadResult.CLOSED, get(index));
    assertEquals(ReadResult.CLOSED, get(index));
  }

  @Test
  void scanBehindAClosedGatePassesNoKey() throws IOException {
    final GrantedIndex index = open(3);
    final DirectScan scan =
        new DirectScan(
            ScanRequest.newBuilder()
                .setRange(
                    KeyRange.newBuilder()
                        .setStart(ByteString.copyFromUtf8("leaf0x"))
                        .setEnd(ByteString.copyFromUtf8("leaf0y")))
                .build());
    move(1, 0);
    assertEquals(ReadResult.CLOSED, new ScanStep().read(scan, entry -> true, index));
    assertFalse(scan.isDone(), "the next leader may have keys there");
  }

  /** A leaf's entries are loaded, and then the gates are looked at. */
  @Test
  void scanGivesNoFurtherLeafBehindAGateThatMoves() throws IOException {
    final GrantedIndex index = open(3);
    final DirectScan scan = new DirectScan(ScanRequest.getDefaultInstance());
    final ScanStep step = new ScanStep();
    final DirectSink sink =
        entry -> {
          move(0, EPOCH + 1);
          return true;
        };
    assertEquals(ReadResult.CLOSED, step.read(scan, sink, index));
    assertEquals(HandmadeTree.ENTRIES, step.given());
  }

  /** Mapped memory is looked at while it is read. */
  @Test
  void gateThatMovesBehindTheLastLoadTurnsAReadOfMappedMemoryAway() throws IOException {
    final GrantedIndex unused = open(3);
    final MemberGates looks =
        new MemberGates(EPOCH, reached.stream().map(GrantedGates.Reached::mapped).toList());
    final int[] loads = {0, -1}; // so far, and the one with which a gate moves
    final OrderedReader reader =
        new OrderedReader(
            new SegmentReads(
                number -> {
                  if (++loads[0] == loads[1]) {
                    move(1, EPOCH + 1);
                  }
                  return memory.segment;
                },
                16,
                memory.gate,
                GateDescriptor.WORD_OFFSET,
                looks),
            HandmadeTree.location(),
            16);
    assertEquals(ReadResult.FOUND, reader.get(tree.key(1), found));
    loads[0] = 0;
    looks.begin();
    assertFalse(looks.wereOpen());
    assertEquals(ReadResult.FOUND, reader.get(tree.key(1), found));
    assertTrue(looks.wereOpen());
    loads[1] = loads[0]; // the last one
    loads[0] = 0;
    looks.begin();
    assertEquals(ReadResult.FOUND, reader.get(tree.key(1), found));
    assertFalse(looks.wereOpen());
    move(1, EPOCH);
    assertEquals(ReadResult.FOUND, reader.get(tree.key(1), found));
    assertTrue(looks.wereOpen());
    move(1, EPOCH + 1);
    assertEquals(ReadResult.FOUND, reader.get(tree.key(1), found), "a later part of one read");
    assertFalse(looks.wereOpen());
  }

  /** Its page may be gone: what was loaded is no number then, and the error comes later. */
  @Test
  void truncatedGatesAreNotReached() {
    final boolean[] isPending = {true};
    final DirectRegion truncated =
        new DirectRegion(GatesDescriptor.LENGTH) {
          @Override
          public void verify() {
            if (isPending[0]) {
              isPending[0] = false;
              throw new InternalError("a page is gone");
            }
          }
        };
    truncated.putLong(GatesDescriptor.MAGIC_OFFSET, GatesDescriptor.MAGIC);
    final CardDomain member = new CardDomain(truncated);
    member.mapped = true;
    final GateResponse granted = GateResponse.newBuilder().setPlace(PLACE).build();
    final GateMember named = GateMember.getDefaultInstance();
    final IOException refused =
        assertThrows(
            IOException.class, () -> GrantedGates.reach(member, named, granted, 1_000_000_000));
    assertEquals("no gates: another process has truncated the memory", refused.getMessage());
    assertFalse(isPending[0]);
  }
}

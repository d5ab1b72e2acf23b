package dev.ringfetch.index.direct;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.GateDescriptor;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.GatesDescriptor;
import dev.ringfetch.index.layout.MemberGates;
import dev.ringfetch.index.layout.PostedGates;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.v1.GateMember;
import dev.ringfetch.index.v1.GateResponse;
import dev.ringfetch.index.v1.KeyRange;
import dev.ringfetch.index.v1.ScanRequest;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Looks at gates by READs: which ones let a reader of a replicated index in. */
final class PostedGatesTest {
  private static final long EPOCH = 5;
  private static final long PROCESS = 3;
  private static final int PLACE = 2;
  private static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(30);

  private final CardDomain memory = new CardDomain();
  private final HandmadeTree tree = new HandmadeTree(memory, false);
  private final List<CardDomain> members = new ArrayList<>();
  private final DirectRegion nearProcess = new DirectRegion(GateDescriptor.LENGTH);
  private final DirectRegion nearGroups = new DirectRegion(GatesDescriptor.LENGTH);
  private final Found found = new Found();

  private static CardDomain member() {
    final CardDomain domain = new CardDomain(GatesDescriptor.LENGTH);
    domain.gate.putLong(GateDescriptor.WORD_OFFSET, PROCESS);
    domain.segment.putLong(GatesDescriptor.MAGIC_OFFSET, GatesDescriptor.MAGIC);
    move(domain, EPOCH);
    return domain;
  }

  private static void move(CardDomain domain, long epoch) {
    domain.segment.putLong(GatesDescriptor.word(PLACE), epoch);
  }

  private static GrantedGates.Reached reach(CardDomain domain, int place, long limitNs)
      throws IOException {
    final GateMember named =
        GateMember.newBuilder().setAddress("there:1").setIncarnation(77).build();
    final GateResponse granted =
        GateResponse.newBuilder().setPlace(place).setEpoch(PROCESS).build();
    return GrantedGates.reach(domain, named, granted, limitNs);
  }

  /** Opens an index whose leader's gates are mapped, and those of two members are not. */
  private GrantedIndex open(long limitNs) throws IOException {
    final List<GrantedGates.Reached> reached = new ArrayList<>();
    nearProcess.putLong(GateDescriptor.WORD_OFFSET, PROCESS);
    nearGroups.putLong(GatesDescriptor.word(PLACE), EPOCH);
    reached.add(
        new GrantedGates.Reached(
            new CardDomain(),
            new MemberGates.Member(nearProcess, PROCESS, nearGroups, PLACE),
            null));
    members.clear();
    for (int i = 0; i < 2; i++) {
      members.add(member());
      reached.add(reach(members.get(i), PLACE, LIMIT_NS));
      members.get(i).reads = 0;
      members.get(i).doorbells = 0;
    }
    return GrantedIndex.connect(
        new OneDomainFabric(memory),
        HandmadeTree.grant(),
        new GrantedGates(EPOCH, reached, limitNs),
        new GrantedIndex.Limits(LIMIT_NS, LIMIT_NS, 16));
  }

  private ReadResult get(GrantedIndex index) {
    return index.get(tree.key(1), found);
  }

  @Test
  void readTakesOneLookOfTwoReadsAtEachMember() throws IOException {
    final GrantedIndex index = open(LIMIT_NS);
    for (int i = 1; i < 4; i++) {
      assertEquals(ReadResult.FOUND, get(index));
      for (final CardDomain member : members) {
        assertEquals(2 * i, member.reads);
        assertEquals(i, member.doorbells);
      }
    }
    final Found[] several = {found, new Found()};
    final ReadResult[] results = new ReadResult[2];
    index.batchGet(List.of(tree.key(1), tree.key(2)), several, results);
    assertEquals(List.of(ReadResult.FOUND, ReadResult.FOUND), List.of(results));
    assertEquals(8, members.get(1).reads);
  }

  @Test
  void anyOtherValueOfAnyWordTurnsTheReadAway() throws IOException {
    for (int i = 0; i < 2; i++) {
      final GrantedIndex index = open(LIMIT_NS);
      assertEquals(ReadResult.FOUND, get(index));
      for (final long other : new long[] {0, EPOCH - 1, EPOCH + 1, -EPOCH}) {
        move(members.get(i), other);
        assertEquals(ReadResult.CLOSED, get(index));
        assertEquals("a member obeys the epoch no more: there:1", index.obstacle());
      }
      move(members.get(i), EPOCH);
      assertEquals(ReadResult.FOUND, get(index));
      members.get(i).gate.putLong(GateDescriptor.WORD_OFFSET, PROCESS + 1);
      assertEquals(ReadResult.CLOSED, get(index));
      assertEquals("a member is another process: there:1", index.obstacle());
    }
    final GrantedIndex index = open(LIMIT_NS);
    nearGroups.putLong(GatesDescriptor.word(PLACE), EPOCH + 1);
    assertEquals(ReadResult.CLOSED, get(index), "the mapped ones count as well");
  }

  @Test
  void readThatFailsIsNoLook() throws IOException {
    for (int left = 0; left < 2; left++) {
      final GrantedIndex index = open(LIMIT_NS);
      assertEquals(ReadResult.FOUND, get(index));
      members.get(1).left = left;
      assertEquals(ReadResult.CLOSED, get(index), "the words are those of the look before");
      assertEquals("the gate of a member cannot be read: there:1", index.obstacle());
    }
  }

  @Test
  void memberThatDoesNotAnswerIsGivenUpInTime() throws IOException {
    final GrantedIndex index = open(TimeUnit.MILLISECONDS.toNanos(20));
    assertEquals(ReadResult.FOUND, get(index));
    members.get(0).silent = true;
    final long startNs = System.nanoTime();
    assertEquals(ReadResult.CLOSED, get(index));
    assertTrue(System.nanoTime() - startNs >= TimeUnit.MILLISECONDS.toNanos(20));
    assertTrue(members.get(0).closed, "its READs may come into the words of another look");
    assertEquals("the gate of a member was not read in time: there:1", index.obstacle());
    members.get(0).silent = false;
    assertEquals(ReadResult.CLOSED, get(index));
  }

  @Test
  void deadlineOfTheReadLimitsTheLook() throws IOException {
    final GrantedIndex index = open(LIMIT_NS);
    members.get(0).silent = true;
    index.until(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(20));
    assertEquals(ReadResult.CLOSED, get(index));
  }

  /** Each leaf has a look of its own. */
  @Test
  void scanGivesNoFurtherLeafBehindAGateThatMoves() throws IOException {
    final GrantedIndex index = open(LIMIT_NS);
    final DirectScan scan = new DirectScan(ScanRequest.getDefaultInstance());
    final ScanStep step = new ScanStep();
    final DirectSink sink =
        entry -> {
          move(members.get(1), EPOCH + 1);
          return true;
        };
    assertEquals(ReadResult.CLOSED, step.read(scan, sink, index));
    assertEquals(HandmadeTree.ENTRIES, step.given());
  }

  @Test
  void scanBehindAClosedGatePassesNoKey() throws IOException {
    final GrantedIndex index = open(LIMIT_NS);
    final DirectScan scan =
        new DirectScan(
            ScanRequest.newBuilder()
                .setRange(
                    KeyRange.newBuilder()
                        .setStart(ByteString.copyFromUtf8("leaf0x"))
                        .setEnd(ByteString.copyFromUtf8("leaf0y")))
                .build());
    assertEquals(ReadResult.FOUND, get(index));
    move(members.get(0), 0);
    assertEquals(ReadResult.CLOSED, new ScanStep().read(scan, entry -> true, index));
    assertFalse(scan.isDone(), "the next leader may have keys there");
  }

  /** As where a read has ended early. */
  @Test
  void completionOfALookThatNobodyHasWaitedForDoesNotCount() throws IOException {
    final CardDomain domain = member();
    final PostedGates gates =
        new PostedGates(
            EPOCH,
            List.of(
                new PostedGates.Member(
                    "there:1", domain, PROCESS, 0, GatesDescriptor.word(PLACE))));
    assertFalse(gates.wereOpen(), "there was no look");
    gates.post();
    final int[] polls = {0};
    domain.loaded = () -> domain.left = polls[0]++ == 0 ? domain.left : 0;
    gates.post();
    assertFalse(gates.isLooking());
    assertFalse(gates.wereOpen());
    domain.loaded = () -> {};
    domain.left = Integer.MAX_VALUE;
    gates.post();
    assertFalse(gates.isLooking());
    assertNull(gates.obstacle());
  }

  private static void assertNone(CardDomain domain, int place) {
    final String reason =
        assertThrows(IOException.class, () -> reach(domain, place, 10_000_000)).getMessage();
    assertTrue(reason.startsWith("no gates: "), reason);
  }

  @Test
  void memoryThatHasNoGatesIsRefused() throws IOException {
    assertNone(new CardDomain(), PLACE);
    assertNone(member(), 0);
    assertNone(member(), GatesDescriptor.PLACES + 1);
    final CardDomain other = member();
    other.segment.putLong(GatesDescriptor.MAGIC_OFFSET, 1);
    assertNone(other, PLACE);
    final CardDomain silent = member();
    silent.silent = true;
    assertNone(silent, PLACE);
    final CardDomain ended = member();
    ended.left = 0;
    assertNone(ended, PLACE);
  }
}

package dev.ringfetch.index.layout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.GateDescriptor;
import dev.ringfetch.fabric.MemoryRegion;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The gates of a group's members: where their words are, and which values let a reader in. */
final class MemberGatesTest {
  private static final long EPOCH = 9;
  private static final int PLACE = 3;

  private final List<DirectRegion> processes = new ArrayList<>();
  private final List<DirectRegion> groups = new ArrayList<>();
  private final MemberGates gates = create();
  private int faults;

  private MemberGates create() {
    final List<MemberGates.Member> members = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      processes.add(new DirectRegion(GateDescriptor.LENGTH));
      groups.add(new DirectRegion(GatesDescriptor.LENGTH));
      processes.get(i).putLong(GateDescriptor.WORD_OFFSET, 100 + i);
      groups.get(i).putLong(GatesDescriptor.word(PLACE), EPOCH);
      members.add(new MemberGates.Member(processes.get(i), 100 + i, groups.get(i), PLACE));
    }
    return new MemberGates(EPOCH, members);
  }

  @Test
  void wordsStandWhereTheDiagramSays() {
    assertEquals(0, GatesDescriptor.MAGIC_OFFSET);
    assertEquals(64, GatesDescriptor.word(1));
    assertEquals(128, GatesDescriptor.word(2));
    assertEquals(
        GatesDescriptor.LENGTH,
        GatesDescriptor.word(GatesDescriptor.PLACES) + GatesDescriptor.LINE);
    assertEquals(0, GatesDescriptor.LENGTH % 4096);
  }

  @Test
  void magicIsItsName() {
    final ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    bytes.putLong(0, GatesDescriptor.MAGIC);
    assertEquals("rfgates\0", new String(bytes.array(), StandardCharsets.US_ASCII));
  }

  @Test
  void anyOtherValueOfAnyWordIsClosed() {
    assertTrue(gates.areOpen());
    for (int i = 0; i < 3; i++) {
      for (final long other : new long[] {0, EPOCH - 1, EPOCH + 1, -EPOCH}) {
        groups.get(i).putLong(GatesDescriptor.word(PLACE), other);
        assertFalse(gates.areOpen());
      }
      groups.get(i).putLong(GatesDescriptor.word(PLACE), EPOCH);
      for (final long other : new long[] {0, 99 + i, 101 + i, -100 - i}) {
        processes.get(i).putLong(GateDescriptor.WORD_OFFSET, other);
        assertFalse(gates.areOpen());
      }
      processes.get(i).putLong(GateDescriptor.WORD_OFFSET, 100 + i);
      assertTrue(gates.areOpen());
    }
  }

  /** Memory that was taken away: each load fails, and is counted. */
  private MemoryRegion takenAway() {
    return (MemoryRegion)
        Proxy.newProxyInstance(
            MemoryRegion.class.getClassLoader(),
            new Class<?>[] {MemoryRegion.class},
            (proxy, method, arguments) -> {
              if (method.getName().startsWith("get")) {
                faults++;
                throw new InternalError("a fault");
              }
              return null; // verify: all faults are thrown where they happen
            });
  }

  private MemberGates withoutWords() {
    return new MemberGates(
        EPOCH, List.of(new MemberGates.Member(processes.get(0), 100, takenAway(), PLACE)));
  }

  private static SegmentReads reads(MemberGates looks) {
    return new SegmentReads(number -> null, 16, new DirectRegion(GateDescriptor.LENGTH), 0, looks);
  }

  @Test
  void wordsOfAProcessThatHasASuccessorAreLeftAlone() {
    processes.get(0).putLong(GateDescriptor.WORD_OFFSET, 101);
    final MemberGates looks = withoutWords();
    assertFalse(looks.areOpen());
    reads(looks).verify();
    assertEquals(0, faults);
  }

  @Test
  void aFaultOfALookIsNotProvokedAgain() {
    final SegmentReads reads = reads(withoutWords());
    reads.absorb(assertThrows(InternalError.class, reads::verify));
    assertEquals(1, faults);
    assertFalse(withoutWords().areOpen());
    assertEquals(2, faults);
  }

  @Test
  void aGroupHasMembers() {
    assertThrows(IllegalArgumentException.class, () -> new MemberGates(EPOCH, List.of()));
  }
}

package dev.ringfetch.index.grant;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProviders;
import dev.ringfetch.fabric.GateDescriptor;
import dev.ringfetch.fabric.GatePage;
import dev.ringfetch.fabric.RemoteDomain;
import dev.ringfetch.fabric.Rights;
import dev.ringfetch.index.layout.GatesDescriptor;
import dev.ringfetch.index.replication.GroupGate;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The gates of a node's groups, as clients see them. */
final class NodeGatesTest {
  private static final long NODE = 4;
  private static final long INCARNATION = 77;
  private static final long EPOCH = 5;

  @TempDir Path directory;

  private Fabric fabric;
  private NodeGates gates;
  private byte tokens;

  @BeforeEach
  void open() throws IOException {
    fabric = FabricProviders.open("shm", new FabricContext());
    gates = new NodeGates(NODE, INCARNATION, EPOCH, List.of(fabric), null);
  }

  @AfterEach
  void close() {
    gates.close();
    fabric.close();
  }

  private RemoteDomain connect() throws IOException {
    final NodeGates.Shown shown = gates.shown().get(0);
    final byte[] token = ByteBuffer.allocate(16).put(++tokens).array();
    shown.domain().admit(fabric.hint(), token);
    final RemoteDomain domain =
        fabric.connectDomain(shown.domain().descriptor(), token, 1_000_000_000);
    assertEquals(0, domain.attach(shown.segment().descriptor()));
    return domain;
  }

  private static long word(RemoteDomain domain, int place) {
    return domain.view(0).getLongAcquire(GatesDescriptor.word(place));
  }

  @Test
  void clientsSeeTheEpochsThatReplicasObey() throws IOException {
    final GroupGate first = gates.open(1);
    final GroupGate second = gates.open(2);
    try (RemoteDomain domain = connect()) {
      assertEquals(GatesDescriptor.MAGIC, domain.view(0).getLong(GatesDescriptor.MAGIC_OFFSET));
      assertEquals(EPOCH, domain.view(RemoteDomain.GATE).getLong(GateDescriptor.WORD_OFFSET));
      assertEquals(0, word(domain, gates.place(1)));
      first.move(5);
      second.move(6);
      assertEquals(5, word(domain, gates.place(1)));
      assertEquals(6, word(domain, gates.place(2)));
      final int place = gates.place(1);
      first.end();
      assertEquals(-5, word(domain, place));
    }
  }

  @Test
  void clientsMayOnlyRead() throws IOException {
    try (RemoteDomain domain = connect()) {
      assertEquals(Rights.READ, domain.rights());
      assertThrows(ReadOnlyBufferException.class, () -> domain.view(0).putLong(64, 1));
    }
  }

  @Test
  void placeGoesToAnotherGroupWhenTheReplicaHasEnded() throws IOException {
    final GroupGate ended = gates.open(1);
    final int place = gates.place(1);
    ended.move(5);
    ended.end();
    assertEquals(0, gates.place(1));
    final GroupGate next = gates.open(2);
    assertEquals(place, gates.place(2));
    next.move(6);
    ended.move(7); // by a replica that is late
    ended.end();
    try (RemoteDomain domain = connect()) {
      assertEquals(6, word(domain, place));
    }
    assertEquals(place, gates.place(2));
  }

  @Test
  void gateOfTheNextReplicaOfAGroupReplacesTheOther() throws IOException {
    final GroupGate before = gates.open(1);
    before.move(5);
    gates.open(1);
    try (RemoteDomain domain = connect()) {
      assertEquals(-5, word(domain, gates.place(1)), "closed until it is moved");
      before.move(6);
      assertNotEquals(6, word(domain, gates.place(1)));
    }
  }

  @Test
  void thereAreGatesForSoManyGroups() {
    for (int i = 1; i <= GatesDescriptor.PLACES; i++) {
      gates.open(i);
      assertEquals(i, gates.place(i));
    }
    assertSame(GroupGate.NONE, gates.open(GatesDescriptor.PLACES + 1));
    assertEquals(0, gates.place(GatesDescriptor.PLACES + 1));
  }

  @Test
  void gateOfADataDirectoryIsThatOfTheProcess() throws IOException {
    try (GatePage page = GatePage.open(directory.resolve("gate"));
        NodeGates ofDirectory = new NodeGates(NODE, INCARNATION, EPOCH, List.of(fabric), page)) {
      assertEquals(0, page.epoch(), "the node moves it when it serves");
      assertSame(page, ofDirectory.shown().get(0).domain().gate());
    }
  }

  @Test
  void gatesAreThoseOfOneProcess() {
    assertTrue(gates.isOf(NODE, INCARNATION));
    assertTrue(!gates.isOf(NODE, INCARNATION + 1) && !gates.isOf(NODE + 1, INCARNATION));
  }
}

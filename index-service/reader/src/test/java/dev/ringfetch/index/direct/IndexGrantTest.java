package dev.ringfetch.index.direct;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.RemoteDomain;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.GatesDescriptor;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.v1.GateMember;
import dev.ringfetch.index.v1.GateResponse;
import dev.ringfetch.index.v1.GrantRequest;
import dev.ringfetch.index.v1.GrantResponse;
import dev.ringfetch.index.v1.ReleaseRequest;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** When a reader leaves its grant, over a channel whose answers the test makes. */
@Timeout(60)
class IndexGrantTest {
  private static final String FABRIC = "card";
  private static final ByteString TOKEN = ByteString.copyFromUtf8("sixteen bytes...");

  private final FakeChannel channel = new FakeChannel();
  private final CardDomain memory = new CardDomain();
  private final HandmadeTree tree = new HandmadeTree(memory, false);

  private static GrantResponse.Builder granted() {
    return HandmadeTree.grant().toBuilder().setFabric(FABRIC).setToken(TOKEN);
  }

  private IndexGrant open(Fabric fabric) {
    return new IndexGrant(channel, "", new DirectContext(), Map.of(FABRIC, fabric), null);
  }

  private static boolean poll(IndexGrant grant) {
    final long nowNs = System.nanoTime();
    return grant.poll(nowNs, nowNs + TimeUnit.SECONDS.toNanos(10));
  }

  private int requests() {
    return (int) channel.calls.stream().filter(c -> c.message instanceof GrantRequest).count();
  }

  /** Refuses the request of a further segment. */
  private IndexGrant refusedFurtherSegment(boolean outlivesServer) {
    final IndexGrant grant = open(new OneDomainFabric(memory));
    assertFalse(poll(grant));
    channel.answer(0, granted().clearSegments().setOutlivesServer(outlivesServer).build());
    assertTrue(poll(grant));
    assertNotEquals(ReadResult.FOUND, grant.granted().get(tree.key(1), new Found()));
    assertTrue(grant.granted().lacksSegment());
    while (requests() < 2) {
      assertFalse(poll(grant));
    }
    assertNotNull(grant.granted());
    channel.refuse(1);
    assertFalse(poll(grant));
    return grant;
  }

  /** No gate would show the end of the server. */
  @Test
  void refusedFurtherSegmentEndsAGrantThatNoSuccessorEnds() {
    final IndexGrant grant = refusedFurtherSegment(false);
    assertNull(grant.granted());
    assertEquals("NOT_FOUND: none", grant.obstacle());
    assertEquals(1, grant.turns());
    assertTrue(memory.closed);
  }

  @Test
  void refusedFurtherSegmentLeavesMemoryThatOutlivesItsServer() {
    final IndexGrant grant = refusedFurtherSegment(true);
    assertNotNull(grant.granted());
    assertEquals(0, grant.turns());
    assertFalse(memory.closed);
  }

  /** The grant, its gates and their connections are given back; the next request waits. */
  @Test
  void errorOfAConnectionLeavesNothingBehind() {
    final CardDomain gates = new CardDomain(GatesDescriptor.LENGTH);
    gates.segment.putLong(GatesDescriptor.MAGIC_OFFSET, GatesDescriptor.MAGIC);
    memory.broken = new LinkageError("a class is missing");
    final IndexGrant grant = open(inTurn(gates, memory));
    assertFalse(poll(grant));
    channel.answer(0, granted().addMembers(GateMember.newBuilder().setAddress("there:1")).build());
    assertTrue(poll(grant));
    channel.answer(1, GateResponse.newBuilder().setFabric(FABRIC).setPlace(1).build());
    assertSame(memory.broken, assertThrows(LinkageError.class, () -> poll(grant)));
    assertTrue(memory.closed);
    assertTrue(gates.closed);
    assertTrue(
        channel.calls.stream()
            .anyMatch(c -> c.message instanceof ReleaseRequest r && r.getToken().equals(TOKEN)));
    assertEquals("an error", grant.obstacle());
    while (requests() < 2) {
      assertFalse(poll(grant));
    }
  }

  /** A fabric that connects to one domain after the other. */
  private static Fabric inTurn(RemoteDomain... domains) {
    final int[] next = {0};
    return (Fabric)
        Proxy.newProxyInstance(
            Fabric.class.getClassLoader(),
            new Class<?>[] {Fabric.class},
            (proxy, method, arguments) ->
                method.getName().equals("connectDomain")
                    ? domains[next[0]++]
                    : method.invoke(new OneDomainFabric(domains[0]), arguments));
  }
}

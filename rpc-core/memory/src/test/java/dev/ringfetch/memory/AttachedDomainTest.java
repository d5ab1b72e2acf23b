package dev.ringfetch.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.Domain;
import dev.ringfetch.fabric.DomainContext;
import dev.ringfetch.fabric.DomainSegment;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.RemoteDomain;
import dev.ringfetch.fabric.sim.SimContext;
import dev.ringfetch.fabric.sim.SimFabric;
import dev.ringfetch.fabric.sim.SimNetwork;
import dev.ringfetch.fabric.sim.Timeline;
import dev.ringfetch.memory.v1.GrantResponse;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What grants that come again and again cost a client. */
@Timeout(60)
class AttachedDomainTest {
  private static final int LENGTH = ValueDescriptor.memoryLength(64);

  private final List<String> calls = new ArrayList<>(); // of the domain's methods, by name
  private final List<Object> workRequests = new ArrayList<>(); // of its READs
  private Domain owner;
  private DomainSegment segment;

  private AttachedDomain attach(boolean loadStore) throws IOException {
    final SimNetwork network =
        new SimNetwork(new Timeline(1), new SimContext().loadStore(loadStore));
    final SimFabric client = network.open();
    owner = network.open().openDomain(new DomainContext());
    segment = owner.grow(LENGTH);
    final byte[] token = new byte[16];
    owner.admit(client.hint(), token);
    final RemoteDomain connected =
        counted(Fabric.class, client, calls).connectDomain(owner.descriptor(), token, 0);
    final RemoteDomain remote =
        seen(
            RemoteDomain.class,
            connected,
            (method, arguments) -> {
              if (method.equals("read")) {
                workRequests.add(arguments[arguments.length - 1]);
              }
            });
    return new AttachedDomain(remote, ByteString.copyFrom(token), 1_000_000_000);
  }

  /** Notes the names of the methods that are called, of domains that the object connects, too. */
  static <T> T counted(Class<T> type, T target, List<String> calls) {
    return seen(type, target, (method, arguments) -> calls.add(method));
  }

  /** Shows the names of the methods that are called, with their arguments. */
  static <T> T seen(Class<T> type, T target, BiConsumer<String, Object[]> observer) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              observer.accept(method.getName(), arguments);
              try {
                final Object result = method.invoke(target, arguments);
                return result instanceof RemoteDomain remote
                    ? seen(RemoteDomain.class, remote, observer)
                    : result;
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }

  private GrantResponse grant() {
    return GrantResponse.newBuilder().setSegment(ByteString.copyFrom(segment.descriptor())).build();
  }

  private int count(String method) {
    return Collections.frequency(calls, method);
  }

  @Test
  void postedReadsShareTheirScratch() throws Exception {
    final AttachedDomain domain = attach(false);
    segment.region().putLong(8, 7);
    for (int i = 0; i < 10; i++) {
      final RegionReads reads = domain.reads(grant(), LENGTH);
      assertEquals(7, reads.load(8));
      domain.release(reads);
    }
    assertEquals(1, count("scratch"));
    assertEquals(10, count("detach"));
  }

  /** A late completion is so never taken for one of another reader. */
  @Test
  void readersHaveNoWorkRequestInCommon() throws Exception {
    final AttachedDomain domain = attach(false);
    final RegionReads first = domain.reads(grant(), LENGTH);
    final RegionReads second = domain.reads(grant(), LENGTH);
    for (int i = 0; i < 3; i++) {
      first.load(0);
      second.load(0);
    }
    assertEquals(List.of(1L, 2L, 3L, 4L, 5L, 6L), workRequests);
  }

  @Test
  void segmentIsDetachedByItsLastReader() throws Exception {
    for (final boolean loadStore : new boolean[] {true, false}) {
      calls.clear();
      final AttachedDomain domain = attach(loadStore);
      final RegionReads first = domain.reads(grant(), LENGTH);
      final RegionReads second = domain.reads(grant(), LENGTH);
      domain.release(first);
      domain.release(first);
      assertEquals(0, count("detach"));
      assertEquals(0, second.load(0), "still attached");
      domain.release(second);
      assertEquals(1, count("detach"));
    }
  }

  /** A program that reads names which come and go need not close its readers. */
  @Test
  void segmentOfADroppedReaderIsDetachedBeforeTheNextIsAttached() throws Exception {
    for (final boolean loadStore : new boolean[] {true, false}) {
      final AttachedDomain domain = attach(loadStore);
      final RegionReads kept = domain.reads(grant(), LENGTH);
      segment = owner.grow(LENGTH);
      final WeakReference<RegionReads> dropped = new WeakReference<>(domain.reads(grant(), LENGTH));
      while (dropped.get() != null) {
        System.gc();
        Thread.sleep(1);
      }
      segment = owner.grow(LENGTH);
      calls.clear();
      final RegionReads next = domain.reads(grant(), LENGTH);
      assertEquals("detach", calls.get(0));
      assertEquals(1, count("detach"));
      assertEquals(0, kept.load(0) + next.load(0), "still attached");
    }
  }

  @Test
  void segmentOfAnotherLengthIsRefused() throws IOException {
    final AttachedDomain domain = attach(true);
    assertThrows(IOException.class, () -> domain.reads(grant(), LENGTH + 64));
    assertEquals(1, count("detach"));
  }
}

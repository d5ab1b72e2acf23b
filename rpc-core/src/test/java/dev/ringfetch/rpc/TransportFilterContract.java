package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Attributes;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.ServerTransportFilter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Filters see every connection begin and end once, and mark its calls. */
@Timeout(60)
abstract class TransportFilterContract extends TransportContract {
  private static final Attributes.Key<String> MARK = Attributes.Key.create("mark");

  private final List<String> log = Collections.synchronizedList(new ArrayList<>());

  TransportFilterContract(Supplier<TransportHarness> harnesses) {
    super(harnesses);
  }

  private final class Marker extends ServerTransportFilter {
    private final String name;

    Marker(String name) {
      this.name = name;
    }

    @Override
    public Attributes transportReady(Attributes attributes) {
      assertNotNull(attributes.get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR));
      final String before = attributes.get(MARK);
      log.add("ready " + name);
      return attributes.toBuilder().set(MARK, before == null ? name : before + " " + name).build();
    }

    @Override
    public void transportTerminated(Attributes attributes) {
      log.add("terminated " + name + " of " + attributes.get(MARK));
    }
  }

  private void assertTerminate(ManagedChannel channel) throws InterruptedException {
    channel.shutdown();
    assertTrue(channel.awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
  }

  @Test
  void callsCarryWhatFiltersMadeOfTheirConnection() throws Exception {
    harness.server(
        builder -> {
          builder.addTransportFilter(new Marker("a"));
          builder.addTransportFilter(new Marker("b"));
        });
    final Served.Handler handler = Served.digesting();
    start(handler);
    for (int i = 0; i < 3; i++) {
      assertServes();
      assertEquals("a b", handler.take().call.getAttributes().get(MARK));
    }
    assertEquals(List.of("ready a", "ready b"), List.copyOf(log));
  }

  @Test
  void aConnectionBeginsAndEndsOnce() throws Exception {
    harness.server(builder -> builder.addTransportFilter(new Marker("a")));
    start(Bytes.digesting());
    assertServes();
    final ManagedChannel second = harness.connect(InsecureChannelCredentials.create());
    assertEquals(4, new Exchange(second).send(new byte[4]).response().length);
    assertEquals(List.of("ready a", "ready a"), List.copyOf(log));
    assertTerminate(second);
    assertServes();
    harness.verify(harness.channel());
    assertTerminate(harness.channel());
    harness.server().shutdown();
    assertTrue(harness.server().awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    assertEquals(
        List.of("ready a", "ready a", "terminated a of a", "terminated a of a"), List.copyOf(log));
  }
}

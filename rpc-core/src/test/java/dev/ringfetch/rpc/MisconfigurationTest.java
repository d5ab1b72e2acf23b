package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.system.Warnings;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is set to something that means nothing, and is not taken silently. */
final class MisconfigurationTest {
  private final Warnings warnings = new Warnings(Misconfiguration.class);

  @AfterEach
  void close() {
    warnings.close();
  }

  private void assertLogged(String... parts) {
    final List<String> messages = warnings.messages();
    assertEquals(parts.length, messages.size(), messages::toString);
    for (int i = 0; i < parts.length; i++) {
      assertTrue(messages.get(i).contains(parts[i]), messages.get(i));
    }
  }

  @Test
  void aDropInIsWantedOrNot() {
    assertTrue(GrpcBuilders.isDropIn("true"));
    assertTrue(GrpcBuilders.isDropIn("True"));
    assertFalse(GrpcBuilders.isDropIn(null));
    assertFalse(GrpcBuilders.isDropIn(""));
    assertFalse(GrpcBuilders.isDropIn("FALSE"));
    assertLogged();
    for (int i = 0; i < 3; i++) {
      assertFalse(GrpcBuilders.isDropIn("yes"));
      assertFalse(GrpcBuilders.isDropIn("true;"));
    }
    assertLogged("set to \"yes\": it is true or false", "\"true;\"");
  }

  @Test
  void aFabricHasANameOfOne() {
    PlaintextFabrics.of(PlaintextFabrics.SERVER, "");
    PlaintextFabrics.of(PlaintextFabrics.SERVER, "shm", "verbs");
    assertLogged();
    for (int i = 0; i < 3; i++) {
      RingChannelBuilder.forTarget("localhost:1").plaintextFabrics("shm", "smh");
    }
    assertLogged("no fabric is called \"smh\"");
  }

  @Test
  void namesOfThePropertyAreLookedAt() {
    System.setProperty(PlaintextFabrics.PROPERTY, "verbs, vebrs");
    try {
      PlaintextFabrics.unlessSet(PlaintextFabrics.CLIENT);
    } finally {
      System.clearProperty(PlaintextFabrics.PROPERTY);
    }
    assertLogged("no fabric is called \"vebrs\", which " + PlaintextFabrics.PROPERTY);
  }
}

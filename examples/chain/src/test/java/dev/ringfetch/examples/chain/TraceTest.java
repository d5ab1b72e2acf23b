package dev.ringfetch.examples.chain;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.examples.process.Answer;
import org.junit.jupiter.api.Test;

final class TraceTest {
  private static final String ROOT = "root";

  private final Trace trace = new Trace();
  private String parent = ROOT;

  private void add(Part part, String name) {
    final String id = "span" + parent;
    trace.add(part, new Answer().with(id, parent + " 1000 ringfetch.examples.chain.v1." + name));
    parent = id;
  }

  private void addAllBut(Part left) {
    for (Part caller = Part.shopper; caller != Part.index; caller = caller.next()) {
      add(caller, "Sent." + caller.call());
      add(caller, "Attempt." + caller.call());
      if (caller.next() != left) {
        add(caller.next(), "Recv." + caller.call());
      }
    }
  }

  @Test
  void aTraceThroughAllProcessesIsWhole() {
    addAllBut(Part.shopper);
    assertTrue(trace.isWhole(ROOT), () -> trace.describe(ROOT));
    assertFalse(trace.isWhole("another"));
  }

  @Test
  void aTraceThatAServiceIsMissingFromIsNot() {
    addAllBut(Part.pricing);
    assertFalse(trace.isWhole(ROOT), () -> trace.describe(ROOT));
  }

  @Test
  void aTraceWithASpanBesideItIsNot() {
    addAllBut(Part.shopper);
    trace.add(Part.index, new Answer().with("other", "unknown 1000 Recv.Index.Get"));
    assertFalse(trace.isWhole(ROOT), () -> trace.describe(ROOT));
  }
}

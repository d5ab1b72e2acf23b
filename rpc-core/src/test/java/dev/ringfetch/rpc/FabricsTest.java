package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProvider;
import dev.ringfetch.fabric.HeapDoorbell;
import dev.ringfetch.session.SessionContext;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Of what a process that opens its fabrics tells its user. */
class FabricsTest {
  @TempDir Path directory;

  private final Fabric fabric = mock(Fabric.class);
  private final FabricProvider here = mock(FabricProvider.class);
  private final FabricProvider absent = mock(FabricProvider.class);

  @BeforeEach
  void prepare() throws IOException {
    when(fabric.openDoorbell()).thenReturn(new HeapDoorbell());
    when(here.name()).thenReturn("shm");
    when(here.priority()).thenReturn(2);
    when(here.open(any())).thenReturn(fabric);
    when(absent.name()).thenReturn("verbs");
    when(absent.unavailability()).thenReturn("no libraries");
  }

  private Fabrics open(String... names) {
    final FabricSelection all = new FabricSelection(null, null).of(List.of(here, absent));
    return new Fabrics(
        names.length == 0 ? all : all.only(names),
        new FabricContext().directory(directory),
        new SessionContext().spinNs(0),
        1,
        "test");
  }

  @Test
  void absentFabricThatNobodyNamedIsNoFailure() {
    try (Fabrics fabrics = open()) {
      assertFalse(fabrics.hasFailed());
      assertEquals("verbs: no libraries", fabrics.obstacles());
    }
  }

  @Test
  void absentFabricThatTheUserNamedIsOne() {
    try (Fabrics fabrics = open("shm", "verbs")) {
      assertTrue(fabrics.hasFailed());
    }
  }

  @Test
  void presentFabricThatCannotBeOpenedIsOne() throws IOException {
    when(here.open(any())).thenThrow(new IOException("full"));
    try (Fabrics fabrics = open()) {
      assertTrue(fabrics.hasFailed());
      assertEquals("shm: full; verbs: no libraries", fabrics.obstacles());
    }
  }

  @Test
  void errorOfAProviderLeavesNoFabricOpen() {
    when(absent.unavailability()).thenThrow(new StackOverflowError("by a test"));
    assertThrows(StackOverflowError.class, this::open);
    verify(fabric).close();
  }
}

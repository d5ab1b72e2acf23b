package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.GateView;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whom a data directory lets in, and what becomes of its gate. */
class DataDirectoryTest {
  @TempDir Path parent;

  @Test
  void gateGoesOnWhereTheLastServerLeftIt() throws Exception {
    final Path path = parent.resolve("data").resolve("deep");
    try (DataDirectory first = DataDirectory.open(path, false)) {
      assertEquals(0, first.gate().last());
      first.gate().move(5);
      assertTrue(GateView.open(path.resolve("gate")).isOpen(5));
    }
    final GateView reader = GateView.open(path.resolve("gate"));
    assertEquals(false, reader.isOpen(5), "closed at an orderly stop");
    try (DataDirectory second = DataDirectory.open(path, false)) {
      assertEquals(5, second.gate().last());
      second.gate().move(6);
      assertTrue(reader.isOpen(6), "the same page");
    }
  }

  @Test
  void secondServerIsKeptOut() throws Exception {
    try (DataDirectory first = DataDirectory.open(parent, false)) {
      first.gate().move(1);
      final IOException refused =
          assertThrows(IOException.class, () -> DataDirectory.open(parent, true));
      assertEquals("another server uses the data directory: path=" + parent, refused.getMessage());
      assertEquals(1, first.gate().epoch());
    }
    DataDirectory.open(parent, false).close();
  }

  @Test
  void directoryOfAnotherBootNeedsTakeover() throws Exception {
    try (DataDirectory first = DataDirectory.open(parent, false, "boot 1")) {
      first.gate().move(7);
    }
    final IOException refused =
        assertThrows(IOException.class, () -> DataDirectory.open(parent, false, "boot 2"));
    assertTrue(refused.getMessage().contains("--takeover"), refused::getMessage);
    DataDirectory.open(parent, false, "boot 1").close(); // nothing has changed
    try (DataDirectory second = DataDirectory.open(parent, true, "boot 2")) {
      assertEquals(7, second.gate().last());
    }
    DataDirectory.open(parent, false, "boot 2").close();
  }

  @Test
  void damagedGateIsRefusedAndTheDirectoryLetGo() throws Exception {
    Files.writeString(parent.resolve("gate"), "something else");
    for (int i = 0; i < 2; i++) {
      final IOException refused =
          assertThrows(IOException.class, () -> DataDirectory.open(parent, false));
      assertTrue(refused.getMessage().contains("not the page of a gate"), refused::getMessage);
    }
  }
}

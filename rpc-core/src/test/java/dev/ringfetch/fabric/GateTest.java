package dev.ringfetch.fabric;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GateTest {
  @TempDir Path directory;

  private Path file;

  @BeforeEach
  void nameFile() {
    file = directory.resolve("gate");
  }

  private long wordInFile() throws IOException {
    ByteBuffer page = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
    assertEquals(GateDescriptor.LENGTH, page.capacity());
    assertEquals("rfgate1\0", new String(page.array(), GateDescriptor.MAGIC_OFFSET, 8, UTF_8));
    return page.getLong(GateDescriptor.WORD_OFFSET);
  }

  @Test
  void pageIsLaidOutAsDescribed() throws IOException {
    GatePage gate = GatePage.open(file);
    assertEquals(0, wordInFile());
    gate.move(0x0102_0304_0506_0708L);
    assertEquals(0x0102_0304_0506_0708L, wordInFile());
    byte[] page = Files.readAllBytes(file);
    assertEquals(8, page[64]);
    for (int i = 0; i < page.length; i++) {
      if (i >= 8 && (i < 64 || i >= 72)) {
        assertEquals(0, page[i], "offset=" + i);
      }
    }
    assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
    assertEquals(file, gate.path());
  }

  @Test
  void namesOneEpochAndEveryOtherIsClosed() throws IOException {
    GatePage gate = GatePage.open(file);
    GateView view = GateView.open(file);
    assertEquals(0, gate.epoch());
    assertFalse(view.isOpen(0));
    gate.move(7);
    assertTrue(view.isOpen(7));
    for (long epoch : new long[] {Long.MIN_VALUE, -7, -1, 0, 1, 6, 8, Long.MAX_VALUE}) {
      assertFalse(view.isOpen(epoch), "epoch=" + epoch);
    }
    assertEquals(7, gate.epoch());
  }

  @Test
  void movesOnlyForward() throws IOException {
    GatePage gate = GatePage.open(file);
    GateView view = GateView.open(file);
    gate.move(7);
    for (long epoch : new long[] {Long.MIN_VALUE, -8, 0, 6, 7}) {
      assertThrows(IllegalArgumentException.class, () -> gate.move(epoch), "epoch=" + epoch);
    }
    assertTrue(view.isOpen(7));
    gate.close();
    gate.close();
    assertFalse(view.isOpen(7));
    assertFalse(view.isOpen(-7));
    assertEquals(0, gate.epoch());
    assertEquals(7, gate.last());
    assertThrows(IllegalArgumentException.class, () -> gate.move(7));
    gate.move(8);
    assertTrue(view.isOpen(8));
  }

  @Test
  void successorMapsTheSamePage() throws IOException {
    GatePage.open(file).move(3);
    Object inode = Files.getAttribute(file, "unix:ino");
    GateView reader = GateView.open(file);
    GatePage successor = GatePage.open(file);
    assertEquals(inode, Files.getAttribute(file, "unix:ino"));
    assertEquals(3, successor.epoch());
    assertTrue(reader.isOpen(3));
    assertThrows(IllegalArgumentException.class, () -> successor.move(3));
    successor.move(4);
    assertFalse(reader.isOpen(3));
  }

  @Test
  void memoryThatIsTakenAwayIsClosed() throws IOException {
    GatePage.open(file).move(3);
    GateView reader = GateView.open(file);
    assertTrue(reader.isOpen(3));
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.truncate(0);
    }
    for (int i = 0; i < 1000; i++) {
      assertFalse(reader.isOpen(3));
    }
  }

  /** Its owner looks at it from time to time, and closes it at its end. */
  @Test
  void faultOfATruncatedFileEndsInTheGate() throws IOException {
    final GatePage gate = GatePage.open(file);
    gate.move(3);
    assertEquals(3, gate.lastIfThere());
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.truncate(0);
    }
    for (int i = 0; i < 3; i++) {
      assertEquals(0, gate.lastIfThere());
    }
    gate.close();
    assertEquals(0, gate.lastIfThere());
  }

  @Test
  void otherFilesAreLeftAlone() throws IOException {
    assertThrows(IOException.class, () -> GateView.open(file));
    assertFalse(Files.exists(file));
    byte[] text = "a text".getBytes(UTF_8);
    Files.write(file, text);
    assertThrows(IOException.class, () -> GatePage.open(file));
    assertThrows(IOException.class, () -> GateView.open(file));
    assertArrayEquals(text, Files.readAllBytes(file));
    Files.write(file, new byte[GateDescriptor.LENGTH]);
    assertThrows(IOException.class, () -> GatePage.open(file));
    Files.delete(file);
    GatePage.open(file);
    Path link = Files.createSymbolicLink(directory.resolve("link"), file);
    assertThrows(IOException.class, () -> GatePage.open(link));
    assertThrows(IOException.class, () -> GateView.open(link));
    assertThrows(IOException.class, () -> GateView.open(directory));
    assertThrows(IOException.class, () -> GatePage.open(directory));
  }
}

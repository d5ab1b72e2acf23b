package dev.ringfetch.fabric.shm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.ringfetch.fabric.MappedRegion;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

class MappedRegionTest {
  private static final int LENGTH = 128;

  @TempDir Path directory;

  private Path file;
  private MappedRegion region;

  @BeforeEach
  void map() throws IOException {
    file = directory.resolve("file");
    Files.write(file, new byte[LENGTH]);
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      region = new MappedRegion(channel.map(MapMode.READ_WRITE, 0, LENGTH));
    }
  }

  @Test
  void wordsAreLittleEndianInTheFile() throws IOException {
    region.putLong(0, 0x0807060504030201L);
    region.putLongRelease(8, 0x1817161514131211L);
    region.putInt(16, 0x24232221);
    region.putIntRelease(20, 0x34333231);
    byte[] bytes = Files.readAllBytes(file);
    for (int i = 0; i < 8; i++) {
      assertEquals(i + 1, bytes[i]);
      assertEquals(0x11 + i, bytes[8 + i]);
    }
    for (int i = 0; i < 4; i++) {
      assertEquals(0x21 + i, bytes[16 + i]);
      assertEquals(0x31 + i, bytes[20 + i]);
    }
  }

  @Test
  void whatWasStoredIsLoaded() {
    region.putLong(120, -2);
    assertEquals(-2, region.getLong(120));
    assertEquals(-2, region.getLongAcquire(120));
    region.putIntRelease(124, 7);
    assertEquals(7, region.getInt(124));
    assertEquals(7, region.getIntAcquire(124));
    region.fullFence();
    region.verify();
    assertEquals(LENGTH, region.length());
  }

  @Test
  void intsAreCutOutOfTheirLong() {
    for (int i = 0; i < LENGTH; i += Integer.BYTES) {
      region.putInt(i, -i - 1);
    }
    for (int i = 0; i < LENGTH; i += Integer.BYTES) {
      assertEquals(-i - 1, region.getInt(i));
      assertEquals(-i - 1, region.getIntAcquire(i));
    }
  }

  @Test
  void bytesAreCopied() {
    byte[] source = {1, 2, 3, 4, 5};
    region.putBytes(LENGTH - 3, source, 1, 3);
    byte[] destination = new byte[5];
    region.getBytes(LENGTH - 3, destination, 2, 3);
    assertArrayEquals(new byte[] {0, 0, 2, 3, 4}, destination);
  }

  @Test
  void atomicsReturnTheFormerWord() {
    assertEquals(0, region.compareAndExchangeLong(8, 0, 5));
    assertEquals(5, region.compareAndExchangeLong(8, 0, 6));
    assertEquals(5, region.getAndAddLong(8, -1));
    assertEquals(4, region.getLong(8));
  }

  @Test
  void boundsAreChecked() {
    byte[] bytes = new byte[8];
    for (int index : new int[] {-8, LENGTH, Integer.MIN_VALUE, Integer.MAX_VALUE - 7}) {
      assertOutOfBounds(() -> region.getLong(index));
      assertOutOfBounds(() -> region.putLong(index, 1));
      assertOutOfBounds(() -> region.getInt(index));
      assertOutOfBounds(() -> region.putInt(index, 1));
      assertOutOfBounds(() -> region.getLongAcquire(index));
      assertOutOfBounds(() -> region.putLongRelease(index, 1));
      assertOutOfBounds(() -> region.getIntAcquire(index));
      assertOutOfBounds(() -> region.putIntRelease(index, 1));
      assertOutOfBounds(() -> region.getBytes(index, bytes, 0, 8));
      assertOutOfBounds(() -> region.putBytes(index, bytes, 0, 8));
      assertOutOfBounds(() -> region.compareAndExchangeLong(index, 0, 1));
      assertOutOfBounds(() -> region.getAndAddLong(index, 1));
    }
    assertOutOfBounds(() -> region.getLong(LENGTH - 4));
    assertOutOfBounds(() -> region.getBytes(LENGTH - 4, bytes, 0, 8));
    assertOutOfBounds(() -> region.putBytes(0, bytes, 4, 8));
    assertOutOfBounds(() -> region.getBytes(0, bytes, 0, -1));
  }

  private static void assertOutOfBounds(Executable access) {
    assertThrows(IndexOutOfBoundsException.class, access);
  }
}

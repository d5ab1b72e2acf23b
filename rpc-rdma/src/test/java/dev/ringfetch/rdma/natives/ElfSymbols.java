package dev.ringfetch.rdma.natives;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.TreeSet;

/** Reads what a shared library exports, out of its bytes: a 64-bit little-endian ELF file. */
final class ElfSymbols {
  private static final int SECTION_HEADERS = 0x28;
  private static final int SECTION_HEADER_COUNT = 0x3C;
  private static final int SECTION_HEADER_SIZE = 64;
  private static final int DYNAMIC_SYMBOLS = 11;
  private static final int SYMBOL_SIZE = 24;

  private ElfSymbols() {}

  /** Names of the global and weak symbols that the library defines. */
  static Set<String> exported(byte[] library) {
    ByteBuffer elf = ByteBuffer.wrap(library).order(ByteOrder.LITTLE_ENDIAN);
    if (elf.getInt(0) != 0x464C457F || elf.get(4) != 2 || elf.get(5) != 1) {
      throw new IllegalArgumentException("not a 64-bit little-endian ELF file");
    }
    int headers = (int) elf.getLong(SECTION_HEADERS);
    for (int i = 0; i < elf.getShort(SECTION_HEADER_COUNT); i++) {
      int header = headers + i * SECTION_HEADER_SIZE;
      if (elf.getInt(header + 4) == DYNAMIC_SYMBOLS) {
        int strings = headers + elf.getInt(header + 0x28) * SECTION_HEADER_SIZE;
        return symbols(
            elf,
            (int) elf.getLong(header + 0x18),
            (int) elf.getLong(header + 0x20),
            (int) elf.getLong(strings + 0x18));
      }
    }
    throw new IllegalArgumentException("no dynamic symbols");
  }

  private static Set<String> symbols(ByteBuffer elf, int table, int length, int strings) {
    Set<String> names = new TreeSet<>();
    for (int symbol = table; symbol < table + length; symbol += SYMBOL_SIZE) {
      boolean defined = elf.getShort(symbol + 6) != 0;
      boolean global = (elf.get(symbol + 4) >>> 4) != 0;
      if (defined && global) {
        int start = strings + elf.getInt(symbol);
        int end = start;
        while (elf.get(end) != 0) {
          end++;
        }
        byte[] name = new byte[end - start];
        elf.get(start, name);
        names.add(new String(name, StandardCharsets.US_ASCII));
      }
    }
    return names;
  }
}

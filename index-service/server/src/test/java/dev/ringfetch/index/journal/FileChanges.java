package dev.ringfetch.index.journal;

import dev.ringfetch.index.disk.SimulatedDisk;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;

/** Changes at random of the files of a disk, some of them out of other disks. */
public final class FileChanges {
  private final Random random;
  private final List<SimulatedDisk> others;
  private final Consumer<String> counted;

  /**
   * Creates it.
   *
   * @param others disks whose files come in
   * @param counted is told the kind of each change
   */
  public FileChanges(Random random, List<SimulatedDisk> others, Consumer<String> counted) {
    this.random = random;
    this.others = others;
    this.counted = counted;
  }

  /**
   * Changes a file at random, or exchanges two, or removes one; returns what was done, for people.
   */
  public String change(SimulatedDisk disk) throws IOException {
    final List<String> names = disk.names();
    if (names.isEmpty()) {
      return "nothing";
    }
    final String name = names.get(random.nextInt(names.size()));
    final byte[] content = disk.content(name);
    final int used = Math.max(1, Math.min(content.length, used(content) + 600));
    final int at = random.nextInt(used);
    final int length = Math.min(content.length - at, 1 + random.nextInt(4000));
    final SimulatedDisk other = others.get(random.nextInt(others.size())).copy();
    final String what;
    switch (random.nextInt(9)) {
      case 0, 1 -> {
        what = "flip";
        if (content.length > 0) {
          content[at] ^= (byte) (1 << random.nextInt(8));
        }
      }
      case 2 -> {
        what = "cut";
        disk.content(name, Arrays.copyOf(content, at));
      }
      case 3 -> {
        what = "zeros";
        Arrays.fill(content, at, at + length, (byte) 0);
      }
      case 4 -> {
        what = "noise";
        for (int i = at; i < at + length; i++) {
          content[i] = (byte) random.nextInt();
        }
      }
      case 5 -> {
        what = "duplicate";
        final int from = random.nextInt(used);
        System.arraycopy(content, from, content, at, Math.min(length, content.length - from));
      }
      case 6 -> {
        what = "splice";
        final List<String> from = other.names();
        final byte[] source = other.content(from.get(random.nextInt(from.size())));
        // Of the same place as often as not.
        final int begin =
            random.nextBoolean() && at < source.length
                ? at
                : random.nextInt(Math.max(1, source.length));
        System.arraycopy(source, begin, content, at, Math.min(length, source.length - begin));
      }
      case 7 -> {
        what = "exchange";
        final List<String> from = other.names();
        disk.content(name, other.content(from.contains(name) ? name : from.get(0)).clone());
      }
      default -> {
        what = random.nextBoolean() ? "remove" : "swap";
        if (what.equals("remove")) {
          disk.delete(name);
        } else {
          final String second = names.get(random.nextInt(names.size()));
          disk.content(name, disk.content(second));
          disk.content(second, content);
          counted.accept(what);
          return "swap " + name + " and " + second;
        }
      }
    }
    counted.accept(what);
    return what + " " + name + " at=" + at + " length=" + length;
  }

  /** Length of a content without the zeros at its end. */
  public static int used(byte[] content) {
    int used = content.length;
    while (used > 0 && content[used - 1] == 0) {
      used--;
    }
    return used;
  }
}

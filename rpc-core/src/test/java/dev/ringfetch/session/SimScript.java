package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;

import dev.ringfetch.session.unit.Unit;
import dev.ringfetch.session.unit.UnitBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.BiConsumer;

/**
 * The units that one side of a simulated stream sends, to the byte: drawn from the stream's
 * request, so that the other side knows them, too.
 */
final class SimScript {
  private static final int CODES = 256;

  private final long seed;
  private final int[] flags;
  private final int[] lengths;
  private final byte[] first; // bytes of the first unit, if they are not drawn

  private SimScript(long seed, int[] flags, int[] lengths, byte[] first) {
    this.seed = seed;
    this.flags = flags;
    this.lengths = lengths;
    this.first = first;
  }

  /** No unit: the request was whole. */
  static SimScript nothing() {
    return new SimScript(0, new int[0], new int[0], null);
  }

  /** One response. */
  static SimScript whole(byte[] response) {
    final int[] flags = {PREFIX | MESSAGE | SUFFIX};
    return new SimScript(0, flags, new int[] {response.length}, response);
  }

  /** A response in two units. */
  static SimScript split(byte[] response) {
    final int[] flags = {PREFIX | MESSAGE, SUFFIX};
    return new SimScript(0, flags, new int[] {response.length, 0}, response);
  }

  /** Messages in some units: with what begins and ends the direction in them, or alone. */
  static SimScript of(SplittableRandom random, int[] lengths, boolean prefix) {
    final int messages = lengths.length;
    final boolean prefixAlone = prefix && (messages == 0 || random.nextBoolean());
    final boolean suffixAlone = messages == 0 || random.nextBoolean();
    final int first = prefixAlone ? 1 : 0;
    final int units = first + messages + (suffixAlone ? 1 : 0);
    final int[] unitFlags = new int[units];
    final int[] unitLengths = new int[units];
    for (int i = 0; i < messages; i++) {
      unitFlags[first + i] = MESSAGE;
      unitLengths[first + i] = lengths[i];
    }
    unitFlags[0] |= prefix ? PREFIX : 0;
    unitFlags[units - 1] |= SUFFIX;
    return new SimScript(random.nextLong(), unitFlags, unitLengths, null);
  }

  /** How many units there are. */
  int units() {
    return flags.length;
  }

  boolean isLast(int index) {
    return index == flags.length - 1;
  }

  /** A unit, to be sent. */
  Unit unit(int index, BiConsumer<UnitBuffer, byte[]> marshaller) {
    final UnitBuffer buffer = new UnitBuffer();
    marshaller.accept(buffer, bytes(index));
    return new Unit(flags[index], code(index), buffer);
  }

  /** What is wrong with the unit that came in as this one; null if nothing is. */
  String difference(int index, Unit unit, int maxLength) {
    if (index >= flags.length) {
      return "a unit after the last: index=" + index + " flags=" + unit.flags();
    }
    if (unit.flags() != flags[index] || unit.code() != code(index)) {
      return "unit " + index + " has flags=" + unit.flags() + " code=" + unit.code();
    }
    final boolean tooLong = lengths[index] > maxLength;
    if (unit.total() != lengths[index] || unit.discarded() != tooLong) {
      return "unit " + index + " has length=" + unit.total() + " of " + lengths[index];
    }
    final UnitBuffer buffer = unit.bytes();
    final byte[] bytes = tooLong ? new byte[0] : bytes(index);
    final int from = buffer.offset();
    final boolean same =
        Arrays.equals(bytes, 0, bytes.length, buffer.array(), from, from + buffer.length());
    return same ? null : "unit " + index + " has other bytes";
  }

  /** What the greatest of the messages takes of the window. */
  long maxCost() {
    long max = 0;
    for (int i = 0; i < flags.length; i++) {
      max = Math.max(max, Unit.cost(flags[i], lengths[i]));
    }
    return max;
  }

  private static int code(int index) {
    return index % CODES;
  }

  private byte[] bytes(int index) {
    if (index == 0 && first != null) {
      return first;
    }
    final byte[] bytes = new byte[lengths[index]];
    new SplittableRandom(seed + index).nextBytes(bytes);
    return bytes;
  }
}

package dev.ringfetch.index.model;

import java.util.Arrays;

/**
 * The bit layout of a state: packs small unsigned fields into a {@code long[]}, none across two
 * words, and knows which fields name processes, so that two processes can change places.
 *
 * <p>A field is an int, the handle that the allocating method returns. Fields of one process each
 * have the handles {@code first + process}.
 */
final class Layout {
  private enum Kind {
    /** A number without a process in it. */
    NUMBER,
    /** The number of a process. */
    PROCESS,
    /** A set of processes, a bit each. */
    SET,
    /** The first of a field for each process. */
    EACH,
    /** Another of a field for each process. */
    REST
  }

  private final int processes;
  private int fields;
  private int bitsUsed;
  private int[] words = new int[64];
  private int[] shifts = new int[64];
  private int[] masks = new int[64];
  private Kind[] kinds = new Kind[64];

  Layout(int processes) {
    this.processes = processes;
  }

  /** Allocates a number from 0 to 2^bits - 1. */
  int number(int bits) {
    return add(bits, Kind.NUMBER);
  }

  /** Allocates the number of a process. */
  int process() {
    return add(2, Kind.PROCESS);
  }

  /** Allocates a set of processes. */
  int set() {
    return add(processes, Kind.SET);
  }

  /** Allocates a number for each process; returns the handle of that of process 0. */
  int each(int bits) {
    final int first = add(bits, Kind.EACH);
    for (int process = 1; process < processes; process++) {
      add(bits, Kind.REST);
    }
    return first;
  }

  private int add(int bits, Kind kind) {
    if (fields == words.length) {
      words = Arrays.copyOf(words, fields * 2);
      shifts = Arrays.copyOf(shifts, fields * 2);
      masks = Arrays.copyOf(masks, fields * 2);
      kinds = Arrays.copyOf(kinds, fields * 2);
    }
    if ((bitsUsed & 63) + bits > 64) {
      bitsUsed = (bitsUsed + 63) & ~63;
    }
    words[fields] = bits == 0 ? 0 : bitsUsed >> 6; // a field without bits is always 0
    shifts[fields] = bitsUsed & 63;
    masks[fields] = (1 << bits) - 1;
    kinds[fields] = kind;
    bitsUsed += bits;
    return fields++;
  }

  /** Returns the length of a state in words. */
  int words() {
    return (bitsUsed + 63) >> 6;
  }

  /** Returns the value of a field. */
  int get(long[] state, int field) {
    return (int) (state[words[field]] >>> shifts[field]) & masks[field];
  }

  /** Sets the value of a field; throws {@link IllegalArgumentException} if it has too many bits. */
  void set(long[] state, int field, int value) {
    if ((value & ~masks[field]) != 0) {
      throw new IllegalArgumentException("field=" + field + " value=" + value);
    }
    final int word = words[field];
    final int shift = shifts[field];
    state[word] = (state[word] & ~((long) masks[field] << shift)) | (long) value << shift;
  }

  /** Writes a state in which two processes have changed places to {@code to}. */
  void swap(long[] state, int one, int other, long[] to) {
    System.arraycopy(state, 0, to, 0, state.length);
    for (int field = 0; field < fields; field++) {
      switch (kinds[field]) {
        case PROCESS -> {
          final int value = get(state, field);
          set(to, field, value == one ? other : value == other ? one : value);
        }
        case SET -> {
          final int value = get(state, field);
          if ((value >> one & 1) != (value >> other & 1)) {
            set(to, field, value ^ (1 << one | 1 << other));
          }
        }
        case EACH -> {
          set(to, field + one, get(state, field + other));
          set(to, field + other, get(state, field + one));
        }
        default -> {}
      }
    }
  }
}

package dev.ringfetch.index.layout;

import dev.ringfetch.fabric.MemoryFaults;
import dev.ringfetch.fabric.MemoryRegion;

/**
 * The loads of a reader of index memory, in batches: the reader plans some, executes them together,
 * and evaluates the results.
 *
 * <p>If index memory is mapped, nothing is copied: results are live memory, and each load of the
 * reader sees the present content. Otherwise results are copies, made at some moment between the
 * call of {@link #execute()} and its return. A copy of several words need not be of one moment; an
 * aligned 64-bit word always is.
 *
 * <p>Used by one thread at a time. No content of memory makes a method throw: {@link #execute()}
 * reports a hostile address. An {@link InternalError} may be thrown if memory was unmapped, see
 * {@link MemoryRegion#verify()}.
 */
public interface Reads {
  /** Address of the gate word, which lies outside the segments. */
  long GATE = Long.MIN_VALUE;

  /** Returned by {@link #execute()}: every planned read has its result. */
  int DONE = 0;

  /** Returned by {@link #execute()}: memory is gone. The reader stops reading it. */
  int LOST = -1;

  /** Returned by {@link #execute()}: the grant was withdrawn. The caller makes an RPC. */
  int CLOSED = -2;

  /**
   * Returned by {@link #execute()}: an address lies outside the segments that are known here. The
   * caller learns the newer segments and tries again, or makes an RPC.
   */
  int UNKNOWN_ADDRESS = -3;

  /** Begins an empty batch. The results of the one before are no longer valid. */
  void begin();

  /**
   * Plans a read.
   *
   * @param address where it begins, a multiple of 4, or {@link #GATE}
   * @param length bytes, at least 1; within one segment
   * @return the number of the read in this batch, from 0
   */
  int add(long address, int length);

  /** Carries the batch out; returns {@link #DONE} or another, negative constant. */
  int execute();

  /** Memory of the result of a read. */
  MemoryRegion region(int number);

  /** Offset of the result of a read in its memory. */
  int offset(int number);

  /** Binary logarithm of a segment's length. */
  int segmentShift();

  /**
   * Whether loads keep their order: a load of a later batch, or on live memory a later load, sees
   * memory that is at least as new. Without this order, a reader cannot prove that a key is absent.
   */
  boolean ordered();

  /**
   * Throws {@link InternalError} if memory of this batch was unmapped. The reader calls it before
   * it trusts the batch.
   */
  void verify();

  /**
   * Absorbs the pending errors of unmapped memory that {@link #verify} would throw, without new
   * loads.
   *
   * @param fault that was thrown
   */
  default void absorb(InternalError fault) {
    MemoryFaults.absorb(this::verify, fault);
  }
}

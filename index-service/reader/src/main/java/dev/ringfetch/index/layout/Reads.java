package dev.ringfetch.index.layout;

import dev.ringfetch.fabric.MemoryFaults;
import dev.ringfetch.fabric.MemoryRegion;

/**
 * The loads that a reader of index memory makes, in batches: plan some, carry them out together,
 * look at the results.
 *
 * <p>Where index memory is mapped, nothing is copied: results are live memory, and each load of the
 * reader sees what is there at that moment. Elsewhere results are copies, made at some moment
 * between the call of {@link #execute()} and its return, and a copy of several words need not be of
 * one moment; an aligned 64-bit word always is.
 *
 * <p>Used by one thread at a time. Nothing throws because of what memory contains: a hostile
 * address is answered by {@link #execute()}. An {@link InternalError} may be thrown where memory
 * was taken away, see {@link MemoryRegion#verify()}.
 */
public interface Reads {
  /** Address of the gate word, which lies outside the segments. */
  long GATE = Long.MIN_VALUE;

  /** Returned by {@link #execute()}: every planned read has its result. */
  int DONE = 0;

  /** Returned by {@link #execute()}: memory is gone. The reader reads no more from it. */
  int LOST = -1;

  /** Returned by {@link #execute()}: the grant was withdrawn. The caller goes by RPC. */
  int CLOSED = -2;

  /**
   * Returned by {@link #execute()}: an address lies outside the segments that are known here. The
   * caller learns of newer segments and tries again, or goes by RPC.
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

  /** Memory with the result of a read. */
  MemoryRegion region(int number);

  /** Where in its memory the result of a read begins. */
  int offset(int number);

  /** Binary logarithm of a segment's length. */
  int segmentShift();

  /**
   * Whether loads keep their order: a load of a later batch, or on live memory a later load, sees
   * memory that is at least as new. Without it nobody can tell that a key is absent.
   */
  boolean ordered();

  /**
   * Throws {@link InternalError} here if memory of this batch was taken away. The reader calls it
   * before it trusts the batch.
   */
  void verify();

  /**
   * Collects what {@link #verify} would yet throw of memory that was taken away, and loads nothing
   * anew.
   *
   * @param fault that was thrown
   */
  default void absorb(InternalError fault) {
    MemoryFaults.absorb(this::verify, fault);
  }
}

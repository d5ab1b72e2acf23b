package dev.ringfetch.index.store;

import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.layout.Reads;
import java.util.Queue;

/** Reads that run a step of a script, if one is left, before the loads of each batch. */
final class ScriptedReads implements Reads {
  private final Reads reads;
  private final Queue<Runnable> script;
  private final boolean ordered;

  ScriptedReads(Reads reads, Queue<Runnable> script) {
    this(reads, script, reads.ordered());
  }

  /** Creates reads that say themselves whether they keep their order. */
  ScriptedReads(Reads reads, Queue<Runnable> script, boolean ordered) {
    this.reads = reads;
    this.script = script;
    this.ordered = ordered;
  }

  @Override
  public int execute() {
    if (!script.isEmpty()) {
      script.remove().run();
    }
    return reads.execute();
  }

  @Override
  public void begin() {
    reads.begin();
  }

  @Override
  public int add(long address, int length) {
    return reads.add(address, length);
  }

  @Override
  public MemoryRegion region(int number) {
    return reads.region(number);
  }

  @Override
  public int offset(int number) {
    return reads.offset(number);
  }

  @Override
  public int segmentShift() {
    return reads.segmentShift();
  }

  @Override
  public boolean ordered() {
    return ordered;
  }

  @Override
  public void verify() {
    reads.verify();
  }
}

package dev.ringfetch.index.store;

import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.layout.Reads;
import java.util.Queue;

/** Reads that run a step of a script, if one is left, before the loads of each batch. */
final class ScriptedReads implements Reads {
  private final Reads reads;
  private final Queue<Runnable> script;

  ScriptedReads(Reads reads, Queue<Runnable> script) {
    this.reads = reads;
    this.script = script;
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
    return reads.ordered();
  }

  @Override
  public void verify() {
    reads.verify();
  }
}

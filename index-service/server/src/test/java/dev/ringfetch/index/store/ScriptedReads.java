package dev.ringfetch.index.store;

import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.layout.Reads;
import java.util.Queue;

/** Reads that run a step of a script, if one is left, before the loads of each batch. */
final class ScriptedReads extends ForwardingReads {
  /** Pieces at the begin of a batch: the gate and the open word. */
  private static final int GATE_PIECES = 2;

  private final Queue<Runnable> script;
  private final boolean ordered;
  private final boolean stepsAtPieces;

  ScriptedReads(Reads reads, Queue<Runnable> script) {
    this(reads, script, reads.ordered(), false);
  }

  /**
   * Creates reads that say themselves whether they keep their order. If they do, they run a step
   * before they show a piece, too: what is mapped is loaded then.
   */
  ScriptedReads(Reads reads, Queue<Runnable> script, boolean ordered) {
    this(reads, script, ordered, ordered);
  }

  /** Creates reads that run a step before they show a piece, too, if that is wanted. */
  ScriptedReads(Reads reads, Queue<Runnable> script, boolean ordered, boolean stepsAtPieces) {
    super(reads);
    this.script = script;
    this.ordered = ordered;
    this.stepsAtPieces = stepsAtPieces;
  }

  @Override
  public int execute() {
    step();
    return super.execute();
  }

  private void step() {
    if (!script.isEmpty()) {
      script.remove().run();
    }
  }

  @Override
  public MemoryRegion region(int number) {
    if (stepsAtPieces && number >= GATE_PIECES) {
      step();
    }
    return super.region(number);
  }

  @Override
  public boolean ordered() {
    return ordered;
  }
}

package dev.ringfetch.index.service;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.partition.Write;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The rehearsal of a leadership: wins, leads and writes an index of one member, in memory and with
 * a coordinator of its own. A node that was a member alone until its leader dies would else load
 * the classes of a leader then, which takes longer than all the rest of a fail-over.
 */
public final class Rehearsal {
  private static final long BYTES = 16 << 20;

  private Rehearsal() {}

  /**
   * Carries it out, on the calling thread.
   *
   * @return whether the index was led and written
   * @throws IOException if the memory fails
   */
  public static boolean run() throws IOException {
    try (Indexes indexes = new Indexes(IndexMemory.ofProcess(BYTES))) {
      return write(indexes.find(Indexes.DEFAULT_NAME));
    }
  }

  private static boolean write(ServedIndex index) {
    final AtomicInteger outcome = new AtomicInteger(Write.UNKNOWN);
    final ByteString text = ByteString.copyFromUtf8("key");
    final int refused =
        index
            .partition(text)
            .submit(new Write(write -> outcome.set(write.outcome())).put(text, text));
    return refused == 0 && outcome.get() == Write.DONE;
  }
}

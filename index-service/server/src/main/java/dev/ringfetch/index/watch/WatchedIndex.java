package dev.ringfetch.index.watch;

import dev.ringfetch.index.journal.JournalReader;
import org.jspecify.annotations.Nullable;

/** The watch's view of its index. */
public interface WatchedIndex {
  /** Number of the index in the journal. */
  long number();

  /** Incarnation of the index. */
  long incarnation();

  /** The ring of the newest changes of a partition, which has begun. */
  ChangeRing ring(int partition);

  /** The largest LSN of a partition that is durable in the journal. */
  long durable(int partition);

  /** The reader of older changes; null if the index has no journal. */
  @Nullable JournalReader journal();
}

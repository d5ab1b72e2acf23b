package dev.ringfetch.index.watch;

import dev.ringfetch.index.journal.JournalReader;

/** What a watch needs of its index. */
public interface WatchedIndex {
  /** Number of the index in the journal. */
  long number();

  /** Incarnation of the index. */
  long incarnation();

  /** The newest changes of a partition, which have begun. */
  ChangeRing ring(int partition);

  /** The largest LSN of a partition that is in the journal and durable. */
  long durable(int partition);

  /** The reader of older changes; null if the index is not in the journal. */
  JournalReader journal();
}

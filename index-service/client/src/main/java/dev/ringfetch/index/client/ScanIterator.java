package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.Entry;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.Function;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * An iterator over a range that fetches the next page when it needs one. Its methods throw {@link
 * IndexException} if that fails; the iterator is at its end then. Used by one thread at a time.
 */
public final class ScanIterator<T> implements Iterator<T>, AutoCloseable {
  private final Pages pages;
  private final Function<Entry, T> decoder;
  private Iterator<Entry> page = Collections.emptyIterator();
  private long incarnation;

  ScanIterator(Pages pages, Function<Entry, T> decoder) {
    this.pages = pages;
    this.decoder = decoder;
  }

  @Override
  public boolean hasNext() {
    while (!page.hasNext()) {
      final boolean more = fetch();
      if (!more) {
        return false;
      }
    }
    return true;
  }

  private boolean fetch() {
    boolean fetched = false;
    try {
      final var next = pages.next();
      if (next != null) {
        page = next.getEntriesList().iterator();
        incarnation = next.getIncarnation();
        fetched = true;
      }
    } finally {
      if (!fetched) {
        pages.close();
      }
    }
    return fetched;
  }

  @Override
  public T next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    return decoder.apply(page.next());
  }

  /** The incarnation of the index, as the last page has it; 0 if there is no index. */
  long incarnation() {
    return incarnation;
  }

  /** Reads all that is left. */
  List<T> toList() {
    final List<T> all = new ArrayList<>();
    try (this) {
      forEachRemaining(all::add);
    }
    return all;
  }

  /**
   * All that is left as a sequential stream, whose close ends the scan.
   *
   * @param characteristics as of {@link Spliterator}
   */
  Stream<T> stream(int characteristics) {
    return StreamSupport.stream(Spliterators.spliteratorUnknownSize(this, characteristics), false)
        .onClose(this::close);
  }

  /** Ends the scan: it has nothing more. Idempotent. */
  @Override
  public void close() {
    pages.close();
    page = Collections.emptyIterator();
  }
}

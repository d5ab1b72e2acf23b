package dev.ringfetch.index.partition;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.BoxDescriptor;
import dev.ringfetch.index.store.EntryStore;
import dev.ringfetch.index.store.PartitionStore;
import dev.ringfetch.index.v1.Entry;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A store on the heap that keeps books: of bytes and reservations, and that one thread at a time
 * calls it. Any thread may {@link #read} besides.
 */
public final class BookStore implements EntryStore {
  private final Map<ByteString, Entry> entries = new ConcurrentHashMap<>();
  private final AtomicBoolean entered = new AtomicBoolean();
  private final long budget;
  private Runnable hook = () -> {};
  private Runnable onApply = () -> {};
  private long used;
  private long reserved;
  private int refused;
  private long newest;
  private int growthDue;
  private int growthSteps;
  private int placeLength; // bytes at the begin of values

  /**
   * Creates the store.
   *
   * @param budget bytes of keys and values that fit.
   */
  public BookStore(long budget) {
    this.budget = budget;
  }

  /** Takes the boxes that values begin with as the places of entries. */
  public void boxes() {
    placeLength = BoxDescriptor.LENGTH;
  }

  @Override
  public ByteString place(ByteString value) {
    return value.substring(0, placeLength);
  }

  @Override
  public ByteString placeOf(ByteString key) {
    final Entry entry = placeLength == 0 ? null : entry(key);
    return entry == null ? ByteString.EMPTY : place(entry.getValue());
  }

  /** Runs this within each call. */
  void hook(Runnable hook) {
    this.hook = hook;
  }

  /** Runs this before a record is applied. */
  void onApply(Runnable onApply) {
    this.onApply = onApply;
  }

  /** As readers see it: any thread. */
  public Entry read(ByteString key) {
    return entries.get(key);
  }

  @Override
  public long version(ByteString key) {
    enter();
    final Entry entry = entries.get(key);
    leave();
    return entry == null ? 0 : entry.getVersion();
  }

  @Override
  public Entry entry(ByteString key) {
    enter();
    final Entry entry = entries.get(key);
    leave();
    return entry;
  }

  @Override
  public int reserve(int keyLength, int valueLength) {
    enter();
    final long length = (long) keyLength + valueLength;
    final boolean fits = used + reserved + length <= budget;
    if (fits) {
      reserved += length;
    } else {
      refused++;
    }
    leave();
    return fits ? 0 : PartitionStore.FULL;
  }

  @Override
  public void release(int keyLength, int valueLength) {
    enter();
    unreserve((long) keyLength + valueLength);
    leave();
  }

  @Override
  public void put(ByteString key, ByteString value, long version) {
    enter();
    onApply.run();
    unreserve((long) key.size() + value.size());
    final Entry present = entries.get(key);
    if (version < newest || (present != null && version == present.getVersion())) {
      throw new AssertionError("version=" + version + " newest=" + newest);
    }
    newest = version;
    used += key.size() + value.size();
    // At once, or readers would find none in between.
    free(
        entries.put(
            key, Entry.newBuilder().setKey(key).setValue(value).setVersion(version).build()));
    growthDue++;
    leave();
  }

  @Override
  public boolean delete(ByteString key) {
    enter();
    onApply.run();
    final Entry before = entries.remove(key);
    if (before == null) {
      throw new AssertionError("delete of an absent key: " + key.toStringUtf8());
    }
    free(before);
    leave();
    return true;
  }

  @Override
  public boolean grow() {
    enter();
    if (growthDue > 0) {
      growthDue--;
      growthSteps++;
    }
    leave();
    return growthDue > 0;
  }

  @Override
  public long count() {
    return entries.size();
  }

  /** Bytes that are reserved. */
  public long reserved() {
    return reserved;
  }

  /** Reservations that were refused. */
  int refused() {
    return refused;
  }

  /** Steps of growth that were done. */
  int growthSteps() {
    return growthSteps;
  }

  private void free(Entry before) {
    if (before != null) {
      used -= before.getKey().size() + before.getValue().size();
    }
  }

  private void unreserve(long length) {
    reserved -= length;
    if (reserved < 0) {
      throw new AssertionError("more was used than reserved: " + reserved);
    }
  }

  private void enter() {
    if (!entered.compareAndSet(false, true)) {
      throw new AssertionError("two owners at once");
    }
    hook.run();
  }

  private void leave() {
    entered.set(false);
  }
}

package dev.ringfetch.index.partition;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.store.EntryStore;
import dev.ringfetch.index.v1.Entry;
import java.util.List;

/** A store whose memory is taken away at some moment: it works on, but verification fails once. */
final class DamagedStore implements EntryStore {
  private final EntryStore store;
  private final boolean[] lost;
  private final List<Throwable> refused;

  /**
   * Creates the store.
   *
   * @param lost whether memory was taken away; cleared when that was reported.
   * @param refused receives why the store was refused, which it is if there is any.
   */
  DamagedStore(EntryStore store, boolean[] lost, List<Throwable> refused) {
    this.store = store;
    this.lost = lost;
    this.refused = refused;
  }

  @Override
  public long version(ByteString key) {
    return store.version(key);
  }

  @Override
  public Entry entry(ByteString key) {
    return store.entry(key);
  }

  @Override
  public int reserve(int keyLength, int valueLength) {
    return store.reserve(keyLength, valueLength);
  }

  @Override
  public void release(int keyLength, int valueLength) {
    store.release(keyLength, valueLength);
  }

  @Override
  public void put(ByteString key, ByteString value, long version) {
    store.put(key, value, version);
  }

  @Override
  public boolean delete(ByteString key) {
    return store.delete(key);
  }

  @Override
  public boolean grow() {
    return store.grow();
  }

  @Override
  public long count() {
    return store.count();
  }

  @Override
  public void verify() {
    if (lost[0]) {
      lost[0] = false;
      throw new InternalError("taken away");
    }
  }

  @Override
  public boolean isRefused() {
    return !refused.isEmpty();
  }

  @Override
  public void refuse(Throwable damage) {
    refused.add(damage);
  }
}

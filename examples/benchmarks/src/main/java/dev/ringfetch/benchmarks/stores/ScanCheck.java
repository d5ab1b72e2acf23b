package dev.ringfetch.benchmarks.stores;

/** The check of the entries of one scan after the other. Used by one thread. */
final class ScanCheck {
  private final byte[] first = new byte[Entries.KEY_LENGTH];
  private final byte[] before = new byte[Entries.KEY_LENGTH];
  private int count;
  private boolean right;

  /** Begins a scan at the entry of a number; returns its key, which is not to be changed. */
  byte[] begin(long number) {
    Entries.putKey(number, first);
    count = 0;
    right = true;
    return first;
  }

  /** Takes the next entry: the first one asked for, or one of a greater key than before. */
  void take(byte[] keys, int keyOffset, int keyLength, byte[] values, int offset, int length) {
    right &=
        keyLength == Entries.KEY_LENGTH
            && Entries.isValueOf(keys, keyOffset, values, offset, length)
            && (count == 0
                ? Entries.compareKeys(keys, keyOffset, first) == 0
                : Entries.compareKeys(keys, keyOffset, before) > 0);
    if (right) {
      System.arraycopy(keys, keyOffset, before, 0, Entries.KEY_LENGTH);
    }
    count++;
  }

  /** What {@link Store.Session#scan} returns. */
  int end() {
    return right ? count : Store.Session.WRONG;
  }
}

package dev.ringfetch.index.store;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.Entry;
import java.util.List;
import java.util.stream.IntStream;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;

/**
 * The operations of a store, of which Lincheck makes small random programs. It creates objects of
 * the subclasses and reads the annotations: so this is public. Subclasses may do an operation in
 * another way, a wrong one for example.
 */
@Param(name = "key", gen = IntGen.class, conf = "1:2")
@Param(name = "expected", gen = IntGen.class, conf = "0:3")
@Param(name = "value", gen = IntGen.class, conf = "1:9")
public abstract class StoreProgram {
  /**
   * Keys and values, made beforehand: Lincheck follows each step of an operation, and should find
   * the store's. The two keys do not share a version counter: their hash codes differ by 1.
   */
  private static final List<ByteString> NUMBERS =
      IntStream.range(0, 10)
          .mapToObj(number -> ByteString.copyFromUtf8(Integer.toString(number)))
          .toList();

  /** The store under test, which is empty at first. */
  final HashStore store = new HashStore();

  /** Reads an entry. */
  @Operation
  public Entry get(@Param(name = "key") int key) {
    return store.get(NUMBERS.get(key));
  }

  /** Writes an entry. */
  @Operation
  public HashStore.PutResult put(@Param(name = "key") int key, @Param(name = "value") int value) {
    return putInto(NUMBERS.get(key), NUMBERS.get(value));
  }

  /** Removes an entry. */
  @Operation
  public boolean delete(@Param(name = "key") int key) {
    return store.delete(NUMBERS.get(key));
  }

  /** Writes an entry on a condition. */
  @Operation
  public HashStore.CompareResult compareAndSet(
      @Param(name = "key") int key,
      @Param(name = "expected") int expected,
      @Param(name = "value") int value) {
    return compareIn(NUMBERS.get(key), expected, NUMBERS.get(value));
  }

  HashStore.PutResult putInto(ByteString key, ByteString value) {
    return store.put(key, value);
  }

  HashStore.CompareResult compareIn(ByteString key, long expected, ByteString value) {
    return store.compareAndSet(key, expected, value);
  }
}

package dev.ringfetch.index.service;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.Entry;
import java.util.List;
import java.util.stream.IntStream;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;

/**
 * The operations of an index, of which Lincheck makes small random programs. It creates objects of
 * the subclasses and reads the annotations: so this is public. Subclasses may do an operation in
 * another way, a wrong one for example.
 */
@Param(name = "key", gen = IntGen.class, conf = "1:2")
@Param(name = "expected", gen = IntGen.class, conf = "0:3")
@Param(name = "value", gen = IntGen.class, conf = "1:9")
public abstract class IndexProgram {
  /**
   * Keys and values, made beforehand: Lincheck follows each step of an operation, and should find
   * the index's.
   */
  private static final List<ByteString> NUMBERS =
      IntStream.range(0, 10)
          .mapToObj(number -> ByteString.copyFromUtf8(Integer.toString(number)))
          .toList();

  /** The index under test, which is empty at first. */
  final BlockingIndex index = new BlockingIndex();

  /** Reads an entry. */
  @Operation
  public Entry get(@Param(name = "key") int key) {
    return index.get(NUMBERS.get(key));
  }

  /** Writes an entry. */
  @Operation
  public BlockingIndex.PutResult put(
      @Param(name = "key") int key, @Param(name = "value") int value) {
    return putInto(NUMBERS.get(key), NUMBERS.get(value));
  }

  /** Removes an entry. */
  @Operation
  public boolean delete(@Param(name = "key") int key) {
    return index.delete(NUMBERS.get(key));
  }

  /** Writes an entry on a condition. */
  @Operation
  public BlockingIndex.CompareResult compareAndSet(
      @Param(name = "key") int key,
      @Param(name = "expected") int expected,
      @Param(name = "value") int value) {
    return compareIn(NUMBERS.get(key), expected, NUMBERS.get(value));
  }

  BlockingIndex.PutResult putInto(ByteString key, ByteString value) {
    return index.put(key, value);
  }

  BlockingIndex.CompareResult compareIn(ByteString key, long expected, ByteString value) {
    return index.compareAndSet(key, expected, value);
  }
}

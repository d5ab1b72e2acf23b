package dev.ringfetch.index.store;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.Entry;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.junit.jupiter.api.Test;

/**
 * Lincheck runs small random programs of these operations on two threads, switches between the
 * threads at points that it chooses, and looks for an order of the operations that explains all
 * results, versions included. It creates objects of this class and reads the annotations: so it is
 * public.
 */
@Param(name = "key", gen = IntGen.class, conf = "1:2")
@Param(name = "expected", gen = IntGen.class, conf = "0:3")
@Param(name = "value", gen = IntGen.class, conf = "1:9")
public class HashStoreLincheckTest {
  private final HashStore store = new HashStore();

  @Operation
  public String get(@Param(name = "key") int key) {
    return text(store.get(number(key)));
  }

  @Operation
  public String put(@Param(name = "key") int key, @Param(name = "value") int value) {
    return store.put(number(key), number(value)).toString();
  }

  @Operation
  public boolean delete(@Param(name = "key") int key) {
    return store.delete(number(key));
  }

  @Operation
  public String compareAndSet(
      @Param(name = "key") int key,
      @Param(name = "expected") int expected,
      @Param(name = "value") int value) {
    final HashStore.CompareResult result =
        store.compareAndSet(number(key), expected, number(value));
    return result.applied() + " " + text(result.entry());
  }

  @Test
  void resultsHaveAnOrderThatExplainsThem() {
    new ModelCheckingOptions()
        .iterations(8)
        .invocationsPerIteration(200)
        .threads(2)
        .actorsPerThread(3)
        .check(HashStoreLincheckTest.class);
  }

  /** The two keys do not share a version counter: their hash codes differ by 1. */
  private static ByteString number(int number) {
    return ByteString.copyFromUtf8(Integer.toString(number));
  }

  private static String text(Entry entry) {
    return entry == null ? "absent" : entry.getValue().toStringUtf8() + "@" + entry.getVersion();
  }
}

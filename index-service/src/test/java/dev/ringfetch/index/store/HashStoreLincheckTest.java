package dev.ringfetch.index.store;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.Entry;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Lincheck runs small random programs of the operations of a store on several threads, and looks
 * for an order of the operations that explains all results, versions included. The model checker
 * switches between the threads at points that it chooses, inside the map, too; the stress test lets
 * them run. Stores that are wrong show that this can fail.
 */
final class HashStoreLincheckTest {
  @Test
  void resultsOfTwoThreadsHaveAnOrder() {
    modelChecking(2, 3).check(Intact.class);
  }

  @Test
  void resultsOfThreeThreadsHaveAnOrder() {
    modelChecking(3, 2).check(Intact.class);
  }

  @Test
  void resultsUnderStressHaveAnOrder() {
    new StressOptions()
        .iterations(5)
        .invocationsPerIteration(1_000)
        .threads(2)
        .actorsPerThread(4)
        .check(Intact.class);
  }

  @ParameterizedTest
  @ValueSource(classes = {LatePut.class, LateDelete.class, LateComparison.class})
  void raceIsFound(Class<? extends StoreProgram> wrong) {
    final LincheckAssertionError found =
        assertThrows(LincheckAssertionError.class, () -> modelChecking(2, 3).check(wrong));
    assertTrue(found.getMessage().contains("Invalid execution results"), found::getMessage);
  }

  private static ModelCheckingOptions modelChecking(int threads, int actorsPerThread) {
    return new ModelCheckingOptions()
        .iterations(8)
        .invocationsPerIteration(200)
        .threads(threads)
        .actorsPerThread(actorsPerThread);
  }

  /** The store as it is. */
  public static final class Intact extends StoreProgram {}

  /** Looks whether it creates an entry before it does. */
  public static final class LatePut extends StoreProgram {
    @Override
    HashStore.PutResult putInto(ByteString key, ByteString value) {
      final boolean absent = store.get(key) == null;
      return new HashStore.PutResult(store.put(key, value).version(), absent);
    }
  }

  /** Looks whether there is an entry to delete before it does. */
  public static final class LateDelete extends StoreProgram {
    @Override
    boolean deleteFrom(ByteString key) {
      final boolean existed = store.get(key) != null;
      store.delete(key);
      return existed;
    }
  }

  /** Compares before it sets. */
  public static final class LateComparison extends StoreProgram {
    @Override
    HashStore.CompareResult compareIn(ByteString key, long expected, ByteString value) {
      final Entry seen = store.get(key);
      if ((seen == null ? 0 : seen.getVersion()) != expected) {
        return new HashStore.CompareResult(false, seen);
      }
      final long version = store.put(key, value).version();
      return new HashStore.CompareResult(
          true, Entry.newBuilder().setKey(key).setValue(value).setVersion(version).build());
    }
  }
}

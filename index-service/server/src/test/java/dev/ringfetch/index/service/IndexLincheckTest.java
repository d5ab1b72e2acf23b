package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.Entry;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Lincheck runs small random programs of the operations of a store on several threads, and looks
 * for an order of the operations that explains all results, versions included. The model checker
 * switches between the threads at points that it chooses, inside the map, too; the stress test lets
 * them run. Stores that are wrong show that this can fail.
 */
@Tag("long")
final class IndexLincheckTest {
  @Test
  void resultsOfTwoThreadsHaveAnOrder() {
    modelChecking(2, 3).iterations(8).invocationsPerIteration(200).check(Intact.class);
  }

  @Test
  void resultsOfThreeThreadsHaveAnOrder() {
    modelChecking(3, 2).iterations(4).invocationsPerIteration(200).check(Intact.class);
  }

  @Test
  void resultsUnderStressHaveAnOrder() throws Exception {
    assertTrue(IndexStress.isLinearizable(Intact.class, 4, 300));
  }

  @Test
  @Tag("slow")
  void resultsOfLongerProgramsHaveAnOrder() {
    modelChecking(2, 4).iterations(12).invocationsPerIteration(200).check(Intact.class);
  }

  @Test
  @Tag("slow")
  void resultsUnderLongerStressHaveAnOrder() throws Exception {
    assertTrue(IndexStress.isLinearizable(Intact.class, 10, 1_000));
  }

  @ParameterizedTest
  @ValueSource(classes = {LatePut.class, LateComparison.class})
  void raceIsFound(Class<? extends IndexProgram> wrong) {
    final ModelCheckingOptions options =
        modelChecking(2, 3)
            .iterations(8)
            .invocationsPerIteration(200)
            // Which takes longer than to find one.
            .minimizeFailedScenario(false);
    final LincheckAssertionError found =
        assertThrows(LincheckAssertionError.class, () -> options.check(wrong));
    assertTrue(found.getMessage().contains("Invalid execution results"), found::getMessage);
  }

  @Test
  @Tag("slow")
  void stressFindsRace() throws Exception {
    assertFalse(IndexStress.isLinearizable(LatePut.class, 100, 1_000));
  }

  /** No switches within messages: they do not change, and their builders have one thread. */
  private static ModelCheckingOptions modelChecking(int threads, int actorsPerThread) {
    return new ModelCheckingOptions()
        .threads(threads)
        .actorsPerThread(actorsPerThread)
        .addGuarantee(
            ManagedStrategyGuaranteeKt.forClasses(IndexLincheckTest::isOfMessages)
                .allMethods()
                .ignore());
  }

  private static boolean isOfMessages(String className) {
    return className.startsWith("com.google.protobuf.")
        || className.startsWith("dev.ringfetch.index.v1.");
  }

  /** The store as it is. */
  public static final class Intact extends IndexProgram {}

  /** Looks whether it creates an entry before it does. */
  public static final class LatePut extends IndexProgram {
    @Override
    BlockingIndex.PutResult putInto(ByteString key, ByteString value) {
      final boolean absent = index.get(key) == null;
      return new BlockingIndex.PutResult(index.put(key, value).version(), absent);
    }
  }

  /** Compares before it sets. */
  public static final class LateComparison extends IndexProgram {
    @Override
    BlockingIndex.CompareResult compareIn(ByteString key, long expected, ByteString value) {
      final Entry seen = index.get(key);
      if ((seen == null ? 0 : seen.getVersion()) != expected) {
        return new BlockingIndex.CompareResult(false, seen);
      }
      final long version = index.put(key, value).version();
      return new BlockingIndex.CompareResult(
          true, Entry.newBuilder().setKey(key).setValue(value).setVersion(version).build());
    }
  }
}

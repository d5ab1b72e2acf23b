package dev.ringfetch.index.partition;

import org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Lincheck's model checker on {@link PartitionModel}. */
@Tag("slow")
final class PartitionModelTest {
  @Test
  void nothingStaysBehind() {
    new ModelCheckingOptions()
        .iterations(6)
        .invocationsPerIteration(300)
        .threads(2)
        .actorsBefore(0)
        .actorsPerThread(2)
        .actorsAfter(0)
        .minimizeFailedScenario(false)
        .addGuarantee(
            ManagedStrategyGuaranteeKt.forClasses(PartitionModelTest::isWithoutThreads)
                .allMethods()
                .ignore())
        .check(PartitionModel.class);
  }

  /** No switches within what one thread at a time uses. */
  private static boolean isWithoutThreads(String className) {
    return className.startsWith("com.google.protobuf.")
        || className.startsWith("org.agrona.")
        || className.equals(UncommittedRecords.class.getName());
  }
}

package dev.ringfetch.index.partition;

import java.util.List;
import org.jetbrains.kotlinx.lincheck.Actor;
import org.jetbrains.kotlinx.lincheck.execution.ExecutionScenario;
import org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Lincheck's model checker on {@link PartitionModel}. */
final class PartitionModelTest {
  /** A put beside each operation: enough for each race at the token. */
  @Test
  void nothingStaysBehind() throws Exception {
    options()
        .iterations(0)
        .invocationsPerIteration(100)
        .addCustomScenario(scenario("put", "put"))
        .addCustomScenario(scenario("put", "commit"))
        .addCustomScenario(scenario("put", "close"))
        .check(PartitionModel.class);
  }

  @Test
  @Tag("slow")
  void nothingStaysBehindOfMore() {
    options().iterations(6).invocationsPerIteration(300).check(PartitionModel.class);
  }

  private static ModelCheckingOptions options() {
    return new ModelCheckingOptions()
        .threads(2)
        .actorsBefore(0)
        .actorsPerThread(2)
        .actorsAfter(0)
        .minimizeFailedScenario(false)
        .addGuarantee(
            ManagedStrategyGuaranteeKt.forClasses(PartitionModelTest::isWithoutThreads)
                .allMethods()
                .ignore());
  }

  private static ExecutionScenario scenario(String one, String other) throws Exception {
    return new ExecutionScenario(
        List.of(), List.of(List.of(actor(one)), List.of(actor(other))), List.of(), null);
  }

  private static Actor actor(String operation) throws Exception {
    return new Actor(
        PartitionModel.class.getMethod(operation), List.of(), false, false, false, false, false);
  }

  /** No switches within what one thread at a time uses. */
  private static boolean isWithoutThreads(String className) {
    return className.startsWith("com.google.protobuf.")
        || className.startsWith("org.agrona.")
        || className.equals(UncommittedRecords.class.getName());
  }
}

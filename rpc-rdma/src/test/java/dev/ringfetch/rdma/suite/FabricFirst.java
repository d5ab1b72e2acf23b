package dev.ringfetch.rdma.suite;

import java.util.Comparator;
import org.junit.jupiter.api.ClassOrderer;
import org.junit.jupiter.api.ClassOrdererContext;

/**
 * Runs the tests of faults last: what is left of killed processes and broken connections for a
 * while would be in the way of tests that count what there is.
 */
public final class FabricFirst implements ClassOrderer {
  private static final String FAULTS = "dev.ringfetch.rdma.faults";

  /** Made by JUnit, by its name. */
  public FabricFirst() {}

  @Override
  public void orderClasses(ClassOrdererContext context) {
    context
        .getClassDescriptors()
        .sort(
            Comparator.comparing(
                descriptor -> FAULTS.equals(descriptor.getTestClass().getPackageName())));
  }
}

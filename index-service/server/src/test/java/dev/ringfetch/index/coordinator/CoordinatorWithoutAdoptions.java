package dev.ringfetch.index.coordinator;

/** A coordinator of a test in which no directory is adopted. */
public interface CoordinatorWithoutAdoptions extends Coordinator {
  @Override
  default long cluster() {
    throw new UnsupportedOperationException();
  }

  @Override
  default void adopt(DirectoryGroups groups, AdoptionAnswer answer) {
    throw new UnsupportedOperationException();
  }

  @Override
  default void giveUp(long node, long nonce, AdoptionAnswer answer) {
    throw new UnsupportedOperationException();
  }
}

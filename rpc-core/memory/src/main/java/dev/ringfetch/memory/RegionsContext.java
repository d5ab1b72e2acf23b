package dev.ringfetch.memory;

import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProviders;
import java.nio.file.Path;
import java.util.List;

/**
 * Options of {@link Regions}. Setters return this; a context is not changed once regions were
 * created with it.
 */
public final class RegionsContext {
  /** Default of {@link #lockBudget()}. */
  public static final int LOCK_BUDGET_DEFAULT = 16;

  private List<String> fabrics = List.of(FabricProviders.SHM, FabricProviders.VERBS);
  private final FabricContext fabricContext = new FabricContext();
  private int lockBudget = LOCK_BUDGET_DEFAULT;

  /** A context with the defaults. */
  public RegionsContext() {}

  /** Names of the fabrics over which clients read memory, if they are available. */
  public List<String> fabrics() {
    return fabrics;
  }

  /** Sets {@link #fabrics()}. Default shm and verbs; with none, all goes by calls. */
  public RegionsContext fabrics(String... names) {
    this.fabrics = List.of(names);
    return this;
  }

  /** Sets the directory of the shared-memory fabric. Default {@code /dev/shm}. */
  public RegionsContext shmDirectory(Path directory) {
    fabricContext.directory(directory);
    return this;
  }

  FabricContext fabricContext() {
    return fabricContext.copy();
  }

  /**
   * How often in a row a lock goes to threads of the owner while clients wait for it, and to
   * clients while threads do.
   */
  public int lockBudget() {
    return lockBudget;
  }

  /** Sets {@link #lockBudget()}. */
  public RegionsContext lockBudget(int grants) {
    if (grants < 1) {
      throw new IllegalArgumentException("not positive: lockBudget=" + grants);
    }
    this.lockBudget = grants;
    return this;
  }
}

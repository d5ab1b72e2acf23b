package dev.ringfetch.session;

import static org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt.forClasses;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;

/**
 * Lincheck switches between two threads at points that it chooses, and looks for an order of takes
 * and gives that explains all results; a take that meets an index which was taken and given back
 * (ABA) is among what it tries. Each access is seen at once and in the order of the program: it
 * finds no fault of memory order. It creates objects of this class and reads the annotations: so it
 * is public.
 */
@Param(name = "thread", gen = ThreadIdGen.class)
public class FreeListModel {
  private static final int INDEXES = 3;
  private static final int THREADS = 4; // two, and those before and after them

  private final FreeList list = new FreeList(INDEXES);
  private final Deque<?>[] taken = new Deque<?>[THREADS];

  /** All indexes are free. */
  public FreeListModel() {
    for (int index = 0; index < INDEXES; index++) {
      list.give(index);
    }
    for (int thread = 0; thread < THREADS; thread++) {
      taken[thread] = new ArrayDeque<Integer>();
    }
  }

  @SuppressWarnings("unchecked") // there is no array of a generic type
  private Deque<Integer> takenBy(int thread) {
    return (Deque<Integer>) taken[thread];
  }

  /** Takes an index. */
  @Operation
  public int take(@Param(name = "thread") int thread) {
    final int index = list.take();
    if (index != FreeList.NONE) {
      takenBy(thread).add(index);
    }
    return index;
  }

  /** Gives the first back that the thread has taken. */
  @Operation
  public int give(@Param(name = "thread") int thread) {
    final Integer index = takenBy(thread).poll();
    if (index == null) {
      return FreeList.NONE;
    }
    list.give(index);
    return index;
  }

  /** Throws when results have no order that explains them. */
  public static void check() {
    new ModelCheckingOptions()
        .addGuarantee(forClasses(ArrayDeque.class.getName()).allMethods().ignore()) // the test's
        .iterations(20)
        .invocationsPerIteration(150)
        .threads(2)
        .actorsBefore(0)
        .actorsPerThread(3)
        .actorsAfter(2)
        .check(FreeListModel.class);
  }
}

package dev.ringfetch.memory;

import dev.ringfetch.fabric.BufferedRegion;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.MemoryRegion;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;

/**
 * Threads of which one runs at a time. At each access to memory a seed decides which goes on, and
 * which store becomes visible: each thread has a store buffer of its own, whose plain stores come
 * in any order. A thread can stop for a while, or die with what is in its buffer.
 */
final class Turns {
  private static final int SWITCH_INTERVAL = 5; // accesses, on average
  private static final int PAUSE_INTERVAL = 80;
  private static final int LONGEST_PAUSE = 11; // logarithm, in accesses of all

  private final SplittableRandom random;
  private final List<Actor> actors = new ArrayList<>();
  private final List<BufferedRegion> buffers = new ArrayList<>();
  private final Semaphore ended = new Semaphore(0);
  private long step;
  private Throwable failure;

  /** The end of a thread in the middle of what it did. */
  @SuppressWarnings("serial") // never serialized
  private static final class Death extends RuntimeException {}

  private final class Actor {
    final Semaphore turn = new Semaphore(0);
    final Thread thread;
    long pausedUntil;
    int accessesLeft = Integer.MAX_VALUE;
    boolean isDone;

    Actor(String name, Runnable body) {
      thread =
          new Thread(
              () -> {
                turn.acquireUninterruptibly();
                try {
                  body.run();
                } catch (Death e) {
                  step++;
                } catch (Throwable t) {
                  failure = failure == null ? t : failure;
                } finally {
                  isDone = true;
                  next();
                }
              },
              name);
      thread.setDaemon(true);
    }
  }

  Turns(long seed) {
    random = new SplittableRandom(seed);
  }

  SplittableRandom random() {
    return random;
  }

  /** The time, in accesses. */
  long step() {
    return step;
  }

  void add(String name, Runnable body) {
    actors.add(new Actor(name, body));
  }

  /** Runs all to their ends, and throws what one of them has thrown. */
  void run() throws InterruptedException {
    actors.forEach(actor -> actor.thread.start());
    next();
    ended.acquire();
    if (failure != null) {
      throw new AssertionError(failure.toString(), failure);
    }
  }

  /** Ends the thread that runs after so many more accesses. */
  void dieAfter(int accesses) {
    running().accessesLeft = accesses;
  }

  private Actor running() {
    for (final Actor actor : actors) {
      if (actor.thread == Thread.currentThread()) {
        return actor;
      }
    }
    throw new IllegalStateException("not one of these threads: " + Thread.currentThread());
  }

  /** Gives the turn to one of those that are not done, which may be the caller. */
  private void next() {
    final List<Actor> ready = new ArrayList<>();
    for (final Actor actor : actors) {
      if (!actor.isDone && actor.pausedUntil <= step) {
        ready.add(actor);
      }
    }
    if (ready.isEmpty()) {
      for (final Actor actor : actors) {
        if (!actor.isDone) {
          ready.add(actor);
        }
      }
    }
    if (ready.isEmpty() || failure != null) {
      ended.release();
    } else {
      ready.get(random.nextInt(ready.size())).turn.release();
    }
  }

  /** Called by the thread that runs, before each access. */
  void turn() {
    step++;
    if (random.nextInt(3) == 0 && !buffers.isEmpty()) {
      buffers.get(random.nextInt(buffers.size())).drainOne();
    }
    final Actor actor = running();
    if (actor.accessesLeft-- == 0) {
      throw new Death();
    }
    if (random.nextInt(SWITCH_INTERVAL) == 0) {
      if (random.nextInt(PAUSE_INTERVAL / SWITCH_INTERVAL) == 0) {
        actor.pausedUntil = step + (1L << random.nextInt(LONGEST_PAUSE + 1));
      }
      next();
      actor.turn.acquireUninterruptibly();
    }
  }

  /** A thread's view of memory. */
  MemoryRegion view(DirectRegion memory) {
    final BufferedRegion buffer = new BufferedRegion(memory, random);
    buffers.add(buffer);
    return new View(buffer);
  }

  private final class View implements MemoryRegion {
    private final BufferedRegion buffer;

    View(BufferedRegion buffer) {
      this.buffer = buffer;
    }

    @Override
    public int length() {
      return buffer.length();
    }

    @Override
    public long getLong(int index) {
      turn();
      return buffer.getLong(index);
    }

    @Override
    public void putLong(int index, long value) {
      turn();
      buffer.putLong(index, value);
    }

    @Override
    public int getInt(int index) {
      turn();
      return buffer.getInt(index);
    }

    @Override
    public void putInt(int index, int value) {
      turn();
      buffer.putInt(index, value);
    }

    @Override
    public long getLongAcquire(int index) {
      turn();
      return buffer.getLongAcquire(index);
    }

    @Override
    public void putLongRelease(int index, long value) {
      turn();
      buffer.putLongRelease(index, value);
    }

    @Override
    public int getIntAcquire(int index) {
      turn();
      return buffer.getIntAcquire(index);
    }

    @Override
    public void putIntRelease(int index, int value) {
      turn();
      buffer.putIntRelease(index, value);
    }

    @Override
    public void getBytes(int index, byte[] destination, int offset, int length) {
      for (int done = 0; done < length; done += Long.BYTES) {
        turn();
        buffer.getBytes(
            index + done, destination, offset + done, Math.min(Long.BYTES, length - done));
      }
    }

    @Override
    public void putBytes(int index, byte[] source, int offset, int length) {
      turn();
      buffer.putBytes(index, source, offset, length);
    }

    @Override
    public void fullFence() {
      turn();
      buffer.fullFence();
    }

    @Override
    public void verify() {}
  }

  /** Reads as a card does them: the words of a copy in any order, and anything between two. */
  RegionReads card(DirectRegion memory) {
    return new RegionReads() {
      @Override
      public long load(int offset) {
        turn();
        return memory.getLongAcquire(offset);
      }

      @Override
      public void copy(int offset, int length, byte[] target) {
        final int words = (length + 7) / 8;
        final int[] order = new int[words];
        for (int i = 0; i < words; i++) {
          final int other = random.nextInt(i + 1);
          order[i] = order[other];
          order[other] = i;
        }
        final byte[] word = new byte[8];
        for (final int number : order) {
          turn();
          memory.getBytes(offset + 8 * number, word, 0, 8);
          System.arraycopy(word, 0, target, 8 * number, Math.min(8, target.length - 8 * number));
        }
      }

      @Override
      public boolean isMapped() {
        return false;
      }

      @Override
      public void verify() {}
    };
  }
}

package dev.ringfetch.index.service;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.ringfetch.index.kernel.Kernel;
import dev.ringfetch.index.kernel.KernelReader;
import dev.ringfetch.index.layout.CounterDescriptor;
import dev.ringfetch.index.v1.Box;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.KeyRange;
import io.grpc.Status;
import io.grpc.StatusException;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** The kernels of tests, each of which has the name of its class. */
public final class TestKernels {
  /** Runs of the kernels that end at a limit. */
  static final AtomicInteger RUNS = new AtomicInteger();

  /** Reads that give something though an earlier one has ended the run. */
  static final AtomicInteger READS_AFTER_END = new AtomicInteger();

  private TestKernels() {}

  abstract static class TestKernel implements Kernel {
    @Override
    public String name() {
      return getClass().getSimpleName().toLowerCase(Locale.ROOT);
    }
  }

  /** Takes values for keys, as long as there are entries; answers with the last value. */
  public static final class Chain extends TestKernel {
    @Override
    public ByteString run(ByteString argument, KernelReader reader) {
      ByteString value = argument;
      for (Entry next = reader.get(value); next != null; next = reader.get(value)) {
        value = next.getValue();
      }
      return value;
    }
  }

  /** Counts the keys with a prefix, each of which it also reads by itself. */
  public static final class Count extends TestKernel {
    @Override
    public ByteString run(ByteString prefix, KernelReader reader) {
      final long[] count = new long[1];
      reader.scan(
          KeyRange.newBuilder().setPrefix(prefix).build(),
          entry -> {
            count[0] += reader.get(entry.getKey()) == null ? 0 : 1;
            return true;
          });
      return CounterDescriptor.value(count[0]);
    }
  }

  /** Answers with the first key of all. */
  public static final class First extends TestKernel {
    @Override
    public ByteString run(ByteString argument, KernelReader reader) {
      final ByteString[] first = {ByteString.EMPTY};
      reader.scan(
          KeyRange.getDefaultInstance(),
          entry -> {
            first[0] = first[0].concat(entry.getKey());
            return false;
          });
      return first[0];
    }
  }

  /** Counts the entries in a box, which is the argument. */
  public static final class Boxes extends TestKernel {
    @Override
    public ByteString run(ByteString argument, KernelReader reader) throws StatusException {
      final long[] count = new long[1];
      final Box box;
      try {
        box = Box.parseFrom(argument);
      } catch (InvalidProtocolBufferException e) {
        throw Status.INVALID_ARGUMENT.withDescription("the argument is no box").asException();
      }
      reader.search(box, entry -> ++count[0] > 0);
      return CounterDescriptor.value(count[0]);
    }
  }

  /** Throws what is no status. */
  public static final class Faulty extends TestKernel {
    @Override
    public ByteString run(ByteString argument, KernelReader reader) {
      throw new AssertionError("a fault of the kernel");
    }
  }

  /** Answers nothing. */
  public static final class Silent extends TestKernel {
    @Override
    public @Nullable ByteString run(ByteString argument, KernelReader reader) {
      return null;
    }
  }

  /** Reads the same key for ever, and takes the first exceptions for no end. */
  public static final class Endless extends TestKernel {
    @Override
    public ByteString run(ByteString argument, KernelReader reader) {
      RUNS.incrementAndGet();
      int thrown = 0;
      while (thrown < 3) {
        try {
          reader.get(argument);
          READS_AFTER_END.addAndGet(thrown);
        } catch (RuntimeException e) {
          thrown++;
        }
      }
      return argument;
    }
  }

  /** Waits between reads. */
  public static final class Slow extends TestKernel {
    @Override
    public ByteString run(ByteString argument, KernelReader reader) {
      RUNS.incrementAndGet();
      while (true) {
        reader.get(argument);
        LockSupport.parkNanos(1_000_000);
      }
    }
  }

  /** Answers with as many bytes as the argument says. */
  public static final class Lengthy extends TestKernel {
    @Override
    public ByteString run(ByteString argument, KernelReader reader) {
      return ByteString.copyFrom(new byte[Integer.parseInt(argument.toStringUtf8())]);
    }
  }
}

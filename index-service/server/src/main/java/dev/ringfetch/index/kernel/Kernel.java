package dev.ringfetch.index.kernel;

import com.google.protobuf.ByteString;
import io.grpc.StatusException;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.TreeMap;

/**
 * A function of an application's own that the server runs beside the entries of an index: one call
 * in place of many dependent ones, or of entries that all cross the network. {@link ServiceLoader}
 * finds it on the class path of the server, when that starts.
 *
 * <p>A kernel reads, and writes nothing: its caller needs the right to read the index. The server
 * may run it twice for one call, and for several calls at a time. It runs first on the thread of
 * the call, and from the beginning on a thread of its own if it reads more than a few entries.
 */
public interface Kernel {
  /** The name by which calls ask for it. */
  String name();

  /**
   * Answers a call. The server ends it, at its next read, after a second or a million entries. A
   * kernel that reads nothing more cannot be ended: it bounds the time between two reads itself.
   *
   * @param argument of the call
   * @param reader of the call's index, for this thread until the return
   * @return up to 4 MiB
   * @throws StatusException to end the call with this status, such as INVALID_ARGUMENT. Whatever
   *     else it throws ends the call with INTERNAL, and is logged.
   */
  ByteString run(ByteString argument, KernelReader reader) throws StatusException;

  /**
   * Loads the kernels of the class path, by their names.
   *
   * @throws IllegalStateException if two have the same name
   */
  static Map<String, Kernel> load() {
    final Map<String, Kernel> kernels = new TreeMap<>();
    for (final Kernel kernel : ServiceLoader.load(Kernel.class)) {
      final Kernel other = kernels.put(kernel.name(), kernel);
      if (other != null) {
        throw new IllegalStateException(
            "two kernels have the same name: kernel="
                + kernel.name()
                + " classes="
                + other.getClass().getName()
                + ", "
                + kernel.getClass().getName());
      }
    }
    return kernels;
  }
}
